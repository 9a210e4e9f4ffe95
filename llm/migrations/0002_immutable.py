from django.db import migrations

SQL = """
CREATE TRIGGER llm_prompt_immutable BEFORE UPDATE ON llm_prompt
FOR EACH ROW WHEN (OLD.* IS DISTINCT FROM NEW.*) EXECUTE FUNCTION concord_refuse_change('prompt version');
"""


class Migration(migrations.Migration):
    dependencies = [("llm", "0001_initial"), ("projects", "0002_refuse_change")]
    operations = [migrations.RunSQL(SQL, "DROP TRIGGER llm_prompt_immutable ON llm_prompt;")]
