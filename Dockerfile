# The target and the load tool in one image: a static program, the documents, and nothing besides.
#
#   docker build -t quintain .
#   docker run --rm --network host --read-only --ulimit nofile=1048576 quintain
#   docker run --rm --network host quintain load http://127.0.0.1:8080/1k.html
#
# docs/operations.md says more; packaging/container-test builds and runs it.

# A Rust 1.95 with a C compiler for linking and libc.a (libc6-dev): another registry's, or a local one.
ARG BUILDER=rust:1.95-bookworm

FROM ${BUILDER} AS build
# A profile of Cargo.toml: `release`, or `quick` for an image that is not to be measured.
ARG PROFILE=release
WORKDIR /src
COPY . .
# The target is named so that RUSTFLAGS does not reach macros and build scripts, which cannot be static. glibc and not musl:
# musl's allocator has one lock for all threads, and what is measured should be what runs outside of containers.
RUN target="$(rustc -vV | sed -n 's/^host: //p')" \
 && RUSTFLAGS="-C target-feature=+crt-static -C strip=symbols" \
    cargo build --locked --bin quintain --profile "$PROFILE" --target "$target" \
 && cp "target/$target/$PROFILE/quintain" /quintain

FROM scratch
ARG VERSION=0.1.0
LABEL org.opencontainers.image.title="quintain" \
      org.opencontainers.image.description="A static-file HTTP/1 server made to be benchmarked, and the load tool that hits it" \
      org.opencontainers.image.version="$VERSION" \
      org.opencontainers.image.licenses="MIT OR Apache-2.0"
COPY --from=build /quintain /usr/local/bin/quintain
COPY LICENSE-APACHE LICENSE-MIT /usr/local/share/doc/quintain/
WORKDIR /srv/quintain
COPY config.toml ./
COPY fixtures fixtures
# The default of 127.0.0.1 is the container's own. By a variable and not in CMD, so that healthcheck knows it too. Running
# answers are cut off before `docker stop` loses its patience, which it does after 10 s.
ENV QUINTAIN_SERVER__LISTEN=0.0.0.0:8080 \
    QUINTAIN_TIMEOUTS__SHUTDOWN=8s
# Numbers, because there is no /etc/passwd; and Kubernetes' runAsNonRoot believes nothing else.
USER 65532:65532
EXPOSE 8080
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=5s --retries=3 CMD ["/usr/local/bin/quintain", "healthcheck"]
ENTRYPOINT ["/usr/local/bin/quintain"]
CMD ["serve"]
