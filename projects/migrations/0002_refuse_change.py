from django.db import migrations

SQL = """
CREATE FUNCTION concord_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'A published % never changes; make a new version.', TG_ARGV[0] USING ERRCODE = 'integrity_constraint_violation';
END $$;
"""


class Migration(migrations.Migration):
    """The trigger function that keeps published versions as they are, for the apps that have them."""

    dependencies = [("projects", "0001_initial")]
    operations = [migrations.RunSQL(SQL, "DROP FUNCTION concord_refuse_change();")]
