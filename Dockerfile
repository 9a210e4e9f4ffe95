# Concord for production. PostgreSQL and a Redis-protocol server run elsewhere (docker-compose.yml).

FROM python:3.11-slim-trixie AS packages
COPY requirements/production.txt /tmp/production.txt
RUN python -m venv /opt/concord \
 && /opt/concord/bin/python -m pip install --no-cache-dir --disable-pip-version-check -r /tmp/production.txt

FROM python:3.11-slim-trixie
ENV PATH=/opt/concord/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    DJANGO_SETTINGS_MODULE=config.settings.prod \
    CONCORD_VAR=/var/lib/concord
RUN useradd --system --uid 10001 --home-dir /var/lib/concord --create-home concord
COPY --from=packages /opt/concord /opt/concord
WORKDIR /app
COPY . .
# Collecting files needs settings but no service; these values exist in this one command only.
RUN python -m evaluation.vega_bundle static/vendor/vega.js \
 && DATABASE_URL=postgresql://build@build/build REDIS_URL=redis://build SECRET_KEY=build ALLOWED_HOSTS=build \
    CONCORD_FIELD_KEYS=build python manage.py collectstatic --no-input \
 && python -m compileall -q .
USER concord
EXPOSE 8000
HEALTHCHECK --interval=10s --timeout=6s --start-period=30s CMD ["python", "-m", "config.healthcheck"]
CMD ["python", "-m", "gunicorn", "--config", "config/gunicorn.py", "--bind", "0.0.0.0:8000"]
