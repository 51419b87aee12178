# docker build --target core -t ais_prompt .          models behind a server
# docker build --target local -t ais_prompt:local .   models inside the container too, on its GPUs
#
# docker run --rm -it --user "$(id -u):$(id -g)" -v "$PWD:/work" -e MY_API_KEY ais_prompt run eval.py

FROM python:3.11-slim AS build
WORKDIR /source
COPY pyproject.toml hatch_build.py README.md LICENSE ./
COPY ais_prompt ais_prompt
COPY configs configs
RUN pip wheel --no-cache-dir --no-deps --wheel-dir /wheels .

FROM python:3.11-slim AS core
RUN --mount=type=bind,from=build,source=/wheels,target=/wheels \
    pip install --no-cache-dir "$(echo /wheels/*.whl)[hub,metrics,retrievers]"
# Files in /work belong to the user of the machine, so any user may run the program, and write to the home folder.
RUN useradd --create-home --uid 1000 evaluator && chmod 1777 /home/evaluator && mkdir /work && chown evaluator /work
ENV HOME=/home/evaluator
USER 1000
WORKDIR /work
ENTRYPOINT ["aisprompt"]
CMD ["--help"]

FROM core AS local
USER 0
COPY constraints.txt /tmp/constraints.txt
RUN --mount=type=bind,from=build,source=/wheels,target=/wheels \
    pip install --no-cache-dir --constraint /tmp/constraints.txt "$(echo /wheels/*.whl)[local]"
USER 1000
