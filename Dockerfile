# One base image for all targets, so that tests, production and load tests share a Python, and one image is pulled.
#   app (default) · test · loadtest · local · sqs · toxiproxy             `make images` builds all but `test`

FROM python:3.14-slim AS python

FROM python AS venv
RUN python -m venv /venv
COPY locks/app.lock locks/
RUN /venv/bin/pip install --no-cache-dir --disable-pip-version-check --no-compile --require-hashes -r locks/app.lock

# Keeps the data of those of botocore's 400 services that are used; `sts` and `sso` are for credentials.
FROM venv AS pruned
RUN apt-get update -qq && apt-get install -y -qq --no-install-recommends binutils >/dev/null \
 && find /venv -name '*.so' -exec strip --strip-debug {} +
RUN cd /venv/lib/python3.*/site-packages && rm -rf pip pip-*.dist-info && cd botocore/data \
 && find . -mindepth 1 -maxdepth 1 -type d ! -name sqs ! -name dynamodb ! -name sts ! -name 'sso*' -exec rm -r {} +
COPY app /srv/app
COPY asgi_doctor /srv/asgi_doctor
# The base image has no bytecode of the standard library: compiling it takes 2 s of each start on a quarter of a core.
# unchecked-hash: the root is read-only, so Python need not compare the sources' timestamps.
# https://docs.python.org/3/reference/import.html#pyc-invalidation
ENV PYTHONPYCACHEPREFIX=/bytecode
RUN compile="python -m compileall -q -j 0 --invalidation-mode unchecked-hash" \
 && $compile /venv/lib /srv \
 && $compile -x '/(dist-packages|site-packages|test|idlelib|tkinter|turtledemo|ensurepip)/' \
    "$(python -c 'import sysconfig; print(sysconfig.get_path("stdlib"))')"

# `docker build --target test .` fails when a test fails. The tests of the documents and of the load test require
# tools that this image lacks: a `.venv`, Go, Chromium.
FROM venv AS test
RUN apt-get update -qq && apt-get install -y -qq --no-install-recommends git make >/dev/null
WORKDIR /srv
ENV PATH=/venv/bin:$PATH
COPY locks locks
RUN pip install --no-cache-dir --disable-pip-version-check --require-hashes -r locks/dev.lock
COPY . .
ARG PYTEST_ARGS="--ignore=tests/test_documents.py --ignore=tests/test_front_door.py --ignore=tests/test_prose.py --ignore=tests/test_questions.py --ignore=tests/loadtest"
RUN python -m pytest $PYTEST_ARGS

# vegeta and toxiproxy, pinned in go.mod, and the queue; Go itself is a hashed wheel, since Debian's is too old for go.mod.
FROM python AS go
COPY loadtest/tools/requirements.txt loadtest/tools/go.mod loadtest/tools/go.sum /tools/
RUN pip install --no-cache-dir --disable-pip-version-check --require-hashes -r /tools/requirements.txt \
 && mkdir /out && cd /tools && export CGO_ENABLED=0 \
 && go build -trimpath -o /out/ -ldflags \
    "-s -w -X main.Version=$(go list -m -f '{{.Version}}' github.com/tsenart/vegeta/v12)" tool
COPY loadtest/sqs /sqs
RUN cd /sqs && CGO_ENABLED=0 go build -trimpath -ldflags "-s -w" -o /out/sqs .

FROM python AS toxiproxy
COPY --from=go /out/server /usr/local/bin/toxiproxy-server
USER 10001:10001
EXPOSE 8474
ENTRYPOINT ["toxiproxy-server", "-host", "0.0.0.0"]

FROM python AS sqs
COPY --from=go /out/sqs /usr/local/bin/
USER 10001:10001
EXPOSE 9324
ENTRYPOINT ["sqs", "-host=0.0.0.0", "-port=9324", "-bodies"]

# The packages of both images for a laptop or a test cluster.
FROM venv AS laptop
COPY locks/local.lock locks/
RUN /venv/bin/pip install --no-cache-dir --disable-pip-version-check --require-hashes -r locks/local.lock
WORKDIR /srv

FROM laptop AS loadtest
COPY --from=go /out/vegeta /usr/local/bin/
COPY app app
COPY asgi_doctor asgi_doctor
COPY local local
COPY loadtest loadtest
COPY profiles/instruments profiles/instruments
ENV PATH=/venv/bin:$PATH LOADTEST_PYTHON=python3 PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1
USER 10001:10001
ENTRYPOINT ["loadtest/attack.sh"]

# The stand-ins for DynamoDB and Chargebee, and the sender of webhooks with its samples: `python -m local`.
FROM laptop AS local
COPY app app
COPY asgi_doctor asgi_doctor
COPY local local
COPY loadtest/events loadtest/events
ENV PATH=/venv/bin:$PATH PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1
USER 10001:10001
EXPOSE 4566 8002
CMD ["python", "-m", "local.chargebee", "--host=0.0.0.0", "--port=8002"]

FROM python AS app
ARG VERSION=dev
ARG REVISION=unknown
LABEL org.opencontainers.image.title="invoice-webhook" \
      org.opencontainers.image.description="Chargebee invoice webhooks onto SQS" \
      org.opencontainers.image.licenses="MIT" \
      org.opencontainers.image.version="$VERSION" \
      org.opencontainers.image.revision="$REVISION"
COPY --from=pruned /venv /venv
COPY --from=pruned /srv /srv
COPY --from=pruned /bytecode /bytecode
WORKDIR /srv
ENV PATH=/venv/bin:$PATH PYTHONPYCACHEPREFIX=/bytecode PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1 APP_HOST=0.0.0.0
USER 10001:10001
EXPOSE 8000
# Exec form: the process is PID 1 and receives SIGTERM. The command names the process: web or worker.
# https://docs.docker.com/reference/dockerfile/#exec-form-entrypoint-example
ENTRYPOINT ["python", "-m", "app"]
CMD ["web"]
