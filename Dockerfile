# Builds the images of both workers: `docker build --target temporal-worker .` or `--target restate-worker`.

FROM rust:1.95-bookworm AS build
WORKDIR /src
COPY . .
RUN --mount=type=cache,target=/usr/local/cargo/registry \
    --mount=type=cache,target=/src/target \
    cargo build --release --locked --features neuron-cli/full \
        -p neuron-cli -p neuron-temporal-worker -p neuron-restate-worker \
    && install -D -t /out target/release/neuron \
        target/release/neuron-temporal-worker target/release/neuron-restate-worker

FROM debian:bookworm-slim AS runtime
RUN apt-get update \
    && apt-get install --yes --no-install-recommends bubblewrap ca-certificates \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --create-home neuron
COPY --from=build /out/neuron /usr/local/bin/neuron
USER neuron
WORKDIR /work

FROM runtime AS temporal-worker
COPY --from=build /out/neuron-temporal-worker /usr/local/bin/neuron-temporal-worker
ENTRYPOINT ["neuron-temporal-worker"]

FROM runtime AS restate-worker
COPY --from=build /out/neuron-restate-worker /usr/local/bin/neuron-restate-worker
EXPOSE 9080
ENTRYPOINT ["neuron-restate-worker"]
