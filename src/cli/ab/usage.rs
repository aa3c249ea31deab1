//! The usage text of ab's face: ab's options, one a line, in words of our own.

const OPTIONS: &str = "\
Options are:
    -n requests     Requests to make in all; 1 if not given
    -c concurrency  Connections at once; 1 if not given
    -t timelimit    Seconds after which to stop; sets -n 50000 unless an -n follows
    -s timeout      Seconds to wait for a connect and for an answer; 30 if not given
    -b windowsize   Bytes of each socket's send and receive buffers
    -B address      Address of this machine to connect from
    -p postfile     File to POST; see also -T
    -u putfile      File to PUT; see also -T
    -T content-type Content-type line for -p and -u; text/plain if not given
    -v verbosity    2 shows the request and the heads of answers, 3 also their status codes
    -w              Report as an HTML table
    -i              HEAD instead of GET
    -x attributes   Attributes of the table of -w
    -y attributes   Attributes of its rows
    -z attributes   Attributes of its cells
    -C attribute    Cookie line, such as 'name=value'; the last one counts
    -H attribute    A line of the head, such as 'Accept-Encoding: gzip'; may be repeated
    -A attribute    user:password for the server
    -P attribute    user:password for the proxy
    -X proxy:port   Proxy to ask
    -V              Say which version this is
    -k              Keep connections open (HTTP/1.0 keep-alive)
    -d              No table of percentiles
    -S              No deviations, medians and warnings
    -q              No progress lines with more than 150 requests
    -l              Answers may differ in length
    -g filename     Write a row for each request, tab-separated
    -e filename     Write the time within which each percentage was served, comma-separated
    -r              Go on after refused, reset and timed-out connections
    -m method       Any other method
    -h              This text
    -I              Accepted; there is no TLS of which to disable the server name
    -Z ciphersuite  Refused, as there is no TLS
    -f protocol     Refused, as there is no TLS
    -E certfile     Refused, as there is no TLS
    --threads N     Threads to share the connections between; 1 if not given (not in ab)
";

/// The usage text, which names the program as it was called.
#[must_use]
pub fn usage(program: &str) -> String {
    format!("Usage: {program} [options] [http://]hostname[:port]/path\n{OPTIONS}")
}
