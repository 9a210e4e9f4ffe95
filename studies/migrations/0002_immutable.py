from django.db import migrations

SQL = """
CREATE TRIGGER studies_study_immutable BEFORE UPDATE ON studies_study
FOR EACH ROW WHEN (OLD.status <> 'draft' AND (
    NEW.status = 'draft'
    OR (OLD.dataset_id, OLD.instrument_id, OLD.demographics, OLD.texts, OLD.design, OLD.completion_codes, OLD.translations,
     OLD.filters, OLD.platform, OLD.version)
    IS DISTINCT FROM
    (NEW.dataset_id, NEW.instrument_id, NEW.demographics, NEW.texts, NEW.design, NEW.completion_codes, NEW.translations,
     NEW.filters, NEW.platform, NEW.version)
)) EXECUTE FUNCTION concord_refuse_change('study');
"""


class Migration(migrations.Migration):
    dependencies = [("studies", "0001_initial"), ("projects", "0002_refuse_change")]
    operations = [migrations.RunSQL(SQL, "DROP TRIGGER studies_study_immutable ON studies_study;")]
