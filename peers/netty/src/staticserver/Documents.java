package staticserver;

import java.io.IOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Map;

/**
 * The files below a folder. Symbolic links are followed, out of the folder too, as nginx does; a target with "..",
 * encoded or not, is taken to its end before anything is opened, and stays below the folder or is not found.
 */
final class Documents {
    private static final String INDEX = "index.html";
    private static final String UNKNOWN_TYPE = "application/octet-stream";
    private static final Map<String, String> TYPES = Map.ofEntries(
            Map.entry("html", "text/html"),
            Map.entry("css", "text/css"),
            Map.entry("txt", "text/plain"),
            Map.entry("js", "text/javascript"),
            Map.entry("json", "application/json"),
            Map.entry("xml", "application/xml"),
            Map.entry("pdf", "application/pdf"),
            Map.entry("svg", "image/svg+xml"),
            Map.entry("png", "image/png"),
            Map.entry("jpg", "image/jpeg"),
            Map.entry("gif", "image/gif"),
            Map.entry("webp", "image/webp"),
            Map.entry("ico", "image/x-icon"),
            Map.entry("woff2", "font/woff2"));

    private final Path root;

    Documents(Path root) {
        this.root = root;
    }

    /** An open file and what the head of its answer says. Whoever has it closes {@code content}. */
    record Document(FileChannel content, long length, long modifiedMillis, String type) {}

    /** Opens what a request target names, or throws the exception of java.nio.file that says why not. */
    Document open(String target) throws IOException {
        Path file = locate(target);
        BasicFileAttributes attributes = Files.readAttributes(file, BasicFileAttributes.class);
        // Before it is opened: to open a FIFO would wait for a writer, and with it the event loop.
        if (!attributes.isRegularFile()) {
            throw new NoSuchFileException(target);
        }
        FileChannel content = FileChannel.open(file, StandardOpenOption.READ);
        return new Document(content, attributes.size(), attributes.lastModifiedTime().toMillis(), type(file));
    }

    private Path locate(String target) throws NoSuchFileException {
        String path = decodedPath(target);
        if (path.endsWith("/")) {
            path += INDEX;
        }
        try {
            Path file = root.resolve(path.substring(1)).normalize();
            // Path.startsWith compares whole names: the sibling "documents-old" does not start with "documents".
            if (file.startsWith(root)) {
                return file;
            }
        } catch (InvalidPathException holdsNul) {
            // Not found, as below.
        }
        throw new NoSuchFileException(target);
    }

    /** RFC 9112, 3.2: a target is a path with a query, or a whole URI. getPath decodes once and leaves "+" alone. */
    private static String decodedPath(String target) throws NoSuchFileException {
        try {
            // A target that begins with "//" would be read as an authority.
            URI uri = new URI(target.startsWith("/") ? "http://here" + target : target);
            String path = uri.getPath();
            if (path != null && path.startsWith("/")) {
                return path;
            }
        } catch (URISyntaxException malformed) {
            // Names no file, as below.
        }
        throw new NoSuchFileException(target);
    }

    private static String type(Path file) {
        String name = file.getFileName().toString();
        return TYPES.getOrDefault(name.substring(name.lastIndexOf('.') + 1), UNKNOWN_TYPE);
    }
}
