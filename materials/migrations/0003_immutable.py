from django.db import migrations

SQL = """
CREATE TRIGGER materials_instrument_immutable BEFORE UPDATE ON materials_instrument
FOR EACH ROW WHEN (OLD.* IS DISTINCT FROM NEW.*) EXECUTE FUNCTION concord_refuse_change('instrument version');
"""


class Migration(migrations.Migration):
    dependencies = [("materials", "0002_initial"), ("projects", "0002_refuse_change")]
    operations = [migrations.RunSQL(SQL, "DROP TRIGGER materials_instrument_immutable ON materials_instrument;")]
