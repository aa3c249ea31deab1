package staticserver;

import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Locale;

/**
 * Dates as RFC 9110, 5.6.7 wants them, with two digits for the day. The formatter of Netty 4.1.48 writes one on the
 * first nine days of a month, as does the JDK's RFC_1123_DATE_TIME, and heads would be shorter then.
 */
final class HttpDate {
    private static final DateTimeFormatter FORMAT =
            DateTimeFormatter.ofPattern("EEE, dd MMM yyyy HH:mm:ss 'GMT'", Locale.ROOT).withZone(ZoneOffset.UTC);

    private record Second(long number, String text) {}

    private static volatile Second current = new Second(-1, "");

    private HttpDate() {}

    static String of(long millis) {
        return FORMAT.format(Instant.ofEpochMilli(millis));
    }

    /** Formatted once a second. That two threads may do it at once does no harm. */
    static String now() {
        long millis = System.currentTimeMillis();
        Second second = current;
        if (second.number != millis / 1000) {
            second = new Second(millis / 1000, of(millis));
            current = second;
        }
        return second.text;
    }
}
