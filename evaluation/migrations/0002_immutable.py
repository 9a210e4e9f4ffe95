from django.db import migrations

SQL = """
CREATE TRIGGER evaluation_report_immutable BEFORE UPDATE ON evaluation_report
FOR EACH ROW WHEN (OLD.status = 'ready') EXECUTE FUNCTION concord_refuse_change('report');
"""


class Migration(migrations.Migration):
    dependencies = [("evaluation", "0001_initial"), ("projects", "0002_refuse_change")]
    operations = [migrations.RunSQL(SQL, "DROP TRIGGER evaluation_report_immutable ON evaluation_report;")]
