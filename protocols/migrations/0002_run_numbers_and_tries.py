from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.models import F


def keep_numbers(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Runs that there are keep the number they were shown with, after which what they made is named."""
    apps.get_model("protocols", "ProtocolRun").objects.update(number=F("pk"))


class Migration(migrations.Migration):
    dependencies = [("protocols", "0001_protocols")]

    operations = [
        migrations.AddField("stagerun", "tries", models.PositiveSmallIntegerField(default=0)),
        migrations.AddField("protocolrun", "number", models.PositiveIntegerField(default=0), preserve_default=False),
        migrations.RunPython(keep_numbers, migrations.RunPython.noop),
        migrations.AddConstraint(
            "protocolrun",
            models.UniqueConstraint(fields=["project", "name", "number"], name="protocol_run_number_once"),
        ),
    ]
