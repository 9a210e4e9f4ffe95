import django.db.models.deletion
import evaluation.models
from django.conf import settings
from django.db import migrations, models

IMMUTABLE = """
CREATE TRIGGER evaluation_reportdata_immutable BEFORE UPDATE ON evaluation_reportdata
FOR EACH ROW EXECUTE FUNCTION concord_refuse_change('report');
"""


class Migration(migrations.Migration):
    dependencies = [
        ("evaluation", "0003_kinds"),
        ("projects", "0002_refuse_change"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.RenameField(model_name="report", old_name="requested_at", new_name="active_at"),
        migrations.AddField(
            model_name="report", name="sections_done", field=models.PositiveSmallIntegerField(default=0)
        ),
        migrations.AddField(
            model_name="report", name="sections_total", field=models.PositiveSmallIntegerField(default=0)
        ),
        migrations.CreateModel(
            name="ReportData",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("frames", models.BinaryField()),
                ("versions", models.JSONField()),
                (
                    "report",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE, related_name="data", to="evaluation.report"
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="ReportShare",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("key", models.CharField(default=evaluation.models._share_key, max_length=22, unique=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("revoked_at", models.DateTimeField(blank=True, null=True)),
                (
                    "created_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "report",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="shares", to="evaluation.report"
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("revoked_at", None)),
                        fields=("report",),
                        name="report_has_one_link_at_a_time",
                    )
                ],
            },
        ),
        migrations.RunSQL(IMMUTABLE, "DROP TRIGGER evaluation_reportdata_immutable ON evaluation_reportdata;"),
    ]
