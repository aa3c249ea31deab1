//! Against real ab 2.4: the tags are its, with the figures of the run that the text's test has.

use super::*;
use crate::report::ab::tests::measured_by_ab;

/// As ab prints it with `-w -x border=1 -y align=left -z bgcolor=red -k -p FILE`.
const OF_AB: &str = "

<table border=1>
<tr align=left><th colspan=2 bgcolor=red>Server Software:</th><td colspan=2 bgcolor=red>tiny/1.0</td></tr>
<tr align=left><th colspan=2 bgcolor=red>Server Hostname:</th><td colspan=2 bgcolor=red>127.0.0.1</td></tr>
<tr align=left><th colspan=2 bgcolor=red>Server Port:</th><td colspan=2 bgcolor=red>18777</td></tr>
<tr align=left><th colspan=2 bgcolor=red>Document Path:</th><td colspan=2 bgcolor=red>/404klenslow</td></tr>
<tr align=left><th colspan=2 bgcolor=red>Document Length:</th><td colspan=2 bgcolor=red>1000 bytes</td></tr>
<tr align=left><th colspan=2 bgcolor=red>Concurrency Level:</th><td colspan=2 bgcolor=red>1</td></tr>
<tr align=left><th colspan=2 bgcolor=red>Time taken for tests:</th><td colspan=2 bgcolor=red>0.195 seconds</td></tr>
<tr align=left><th colspan=2 bgcolor=red>Complete requests:</th><td colspan=2 bgcolor=red>6</td></tr>
<tr align=left><th colspan=2 bgcolor=red>Failed requests:</th><td colspan=2 bgcolor=red>2</td></tr>
<tr align=left><td colspan=4 bgcolor=red >   (Connect: 0, Length: 2, Exceptions: 0)</td></tr>
<tr align=left><th colspan=2 bgcolor=red>Non-2xx responses:</th><td colspan=2 bgcolor=red>6</td></tr>
<tr align=left><th colspan=2 bgcolor=red>Keep-Alive requests:</th><td colspan=2 bgcolor=red>6</td></tr>
<tr align=left><th colspan=2 bgcolor=red>Total transferred:</th><td colspan=2 bgcolor=red>4580 bytes</td></tr>
<tr align=left><th colspan=2 bgcolor=red>Total body sent:</th><td colspan=2 bgcolor=red>1014</td></tr>
<tr align=left><th colspan=2 bgcolor=red>HTML transferred:</th><td colspan=2 bgcolor=red>4020 bytes</td></tr>
<tr align=left><th colspan=2 bgcolor=red>Requests per second:</th><td colspan=2 bgcolor=red>30.76</td></tr>
<tr align=left><th colspan=2 bgcolor=red>Transfer rate:</th><td colspan=2 bgcolor=red>22.93 kb/s received</td></tr>
<tr align=left><td colspan=2 bgcolor=red>&nbsp;</td><td colspan=2 bgcolor=red>5.08 kb/s sent</td></tr>
<tr align=left><td colspan=2 bgcolor=red>&nbsp;</td><td colspan=2 bgcolor=red>28.01 kb/s total</td></tr>
<tr align=left><th bgcolor=red colspan=4>Connection Times (ms)</th></tr>
<tr align=left><th bgcolor=red>&nbsp;</th> <th bgcolor=red>min</th>   <th bgcolor=red>avg</th>   <th bgcolor=red>max</th></tr>
<tr align=left><th bgcolor=red>Connect:</th><td bgcolor=red>    0</td><td bgcolor=red>    1</td><td bgcolor=red>    8</td></tr>
<tr align=left><th bgcolor=red>Processing:</th><td bgcolor=red>    0</td><td bgcolor=red>   31</td><td bgcolor=red>   52</td></tr>
<tr align=left><th bgcolor=red>Total:</th><td bgcolor=red>    0</td><td bgcolor=red>   32</td><td bgcolor=red>   60</td></tr>
</table>
";

#[test]
fn the_table_is_that_of_ab() {
    let options = Options { keep_alive: true, body_sent: true, ..Options::default() };
    let attributes =
        Attributes { table: "border=1".to_owned(), row: "align=left".to_owned(), cell: "bgcolor=red".to_owned() };
    assert_eq!(render(&measured_by_ab(), &options, &attributes).unwrap(), OF_AB);
}

#[test]
fn without_attributes_cells_are_white() {
    let options = Options { variable_length: true, ..Options::default() };
    let html = render(&measured_by_ab(), &options, &Attributes::default()).unwrap();
    let row = "<tr ><th colspan=2 bgcolor=white>Document Length:</th><td colspan=2 bgcolor=white>Variable</td></tr>\n";
    assert!(html.starts_with("\n\n<table >\n<tr ><th colspan=2 bgcolor=white>Server Software:</th>"));
    assert!(html.contains(row) && !html.contains("kb/s sent") && !html.contains("Keep-Alive"));
}

#[test]
fn what_the_server_says_is_no_tag() {
    let mut run = measured_by_ab();
    run.first_answer.as_mut().unwrap().server = "<script>&".to_owned();
    let html = render(&run, &Options::default(), &Attributes::default()).unwrap();
    assert!(html.contains(">&lt;script&gt;&amp;</td>") && !html.contains("<script>"));
}
