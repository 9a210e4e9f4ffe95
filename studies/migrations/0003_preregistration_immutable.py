from django.db import migrations

SQL = """
CREATE TRIGGER studies_preregistration_immutable BEFORE UPDATE ON studies_preregistration
FOR EACH ROW WHEN (
    (OLD.study_id, OLD.content, OLD.digest, OLD.created_at)
    IS DISTINCT FROM (NEW.study_id, NEW.content, NEW.digest, NEW.created_at)
) EXECUTE FUNCTION concord_refuse_change('preregistration');
"""


class Migration(migrations.Migration):
    dependencies = [("studies", "0002_immutable"), ("projects", "0002_refuse_change")]
    operations = [migrations.RunSQL(SQL, "DROP TRIGGER studies_preregistration_immutable ON studies_preregistration;")]
