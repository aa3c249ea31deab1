package staticserver;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.DefaultFileRegion;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.handler.codec.DateFormatter;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.DefaultHttpResponse;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.util.Date;
import staticserver.Documents.Document;

/** Answers each request of one connection with a file, sent by sendfile(2). */
final class DocumentHandler extends SimpleChannelInboundHandler<HttpObject> {
    private final Documents documents;
    private ChannelFuture lastAnswer;

    DocumentHandler(Documents documents) {
        this.documents = documents;
    }

    /** Answers at the request's head. A body, which GET may have but which means nothing, is read and dropped. */
    @Override
    protected void channelRead0(ChannelHandlerContext context, HttpObject message) {
        if (message instanceof HttpRequest request) {
            lastAnswer = answer(context, request);
            if (!HttpUtil.isKeepAlive(request) || request.decoderResult().isFailure()) {
                lastAnswer.addListener(ChannelFutureListener.CLOSE);
            }
        }
    }

    /** Sends all answers of one read at once, and reads on only when the client has taken them. */
    @Override
    public void channelReadComplete(ChannelHandlerContext context) {
        context.flush();
        if (lastAnswer != null && !lastAnswer.isDone()) {
            // A client that pipelines and does not read would otherwise make the server open files without end.
            context.channel().config().setAutoRead(false);
            lastAnswer.addListener(done -> context.channel().config().setAutoRead(true));
        }
    }

    /** The client has gone, or broke the protocol in a way that the codec does not survive. */
    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
        context.close();
    }

    private ChannelFuture answer(ChannelHandlerContext context, HttpRequest request) {
        if (request.decoderResult().isFailure()) {
            return refuse(context, request, HttpResponseStatus.BAD_REQUEST);
        }
        if (!request.method().equals(HttpMethod.GET) && !request.method().equals(HttpMethod.HEAD)) {
            return refuse(context, request, HttpResponseStatus.METHOD_NOT_ALLOWED);
        }
        try {
            return send(context, request, documents.open(request.uri()));
        } catch (IOException failure) {
            return refuse(context, request, status(failure));
        }
    }

    private static HttpResponseStatus status(IOException failure) {
        if (failure instanceof AccessDeniedException) {
            return HttpResponseStatus.FORBIDDEN;
        }
        // "Not a directory" and "File name too long" have no class of their own; what they name is not there.
        boolean noSuchFile = failure instanceof NoSuchFileException || failure instanceof FileSystemException other
                && ("Not a directory".equals(other.getReason()) || "File name too long".equals(other.getReason()));
        return noSuchFile ? HttpResponseStatus.NOT_FOUND : HttpResponseStatus.INTERNAL_SERVER_ERROR;
    }

    private static ChannelFuture send(ChannelHandlerContext context, HttpRequest request, Document document)
            throws IOException {
        boolean unchanged = isUnchanged(request, document);
        HttpResponse head = new DefaultHttpResponse(
                HttpVersion.HTTP_1_1, unchanged ? HttpResponseStatus.NOT_MODIFIED : HttpResponseStatus.OK);
        HttpHeaders headers = head.headers();
        if (!unchanged) {
            headers.set(HttpHeaderNames.CONTENT_TYPE, document.type());
            headers.set(HttpHeaderNames.CONTENT_LENGTH, document.length());
        }
        headers.set(HttpHeaderNames.LAST_MODIFIED, HttpDate.of(document.modifiedMillis()));
        setDateAndConnection(headers, request);
        context.write(head);
        // A region of no bytes never completes: see issue 2964 of Netty.
        if (unchanged || request.method().equals(HttpMethod.HEAD) || document.length() == 0) {
            document.content().close();
        } else {
            context.write(new DefaultFileRegion(document.content(), 0, document.length()));
        }
        return context.write(LastHttpContent.EMPTY_LAST_CONTENT);
    }

    /** RFC 9110, 13.1.3: not modified since the date that the client has, in whole seconds as dates in HTTP are. */
    private static boolean isUnchanged(HttpRequest request, Document document) {
        String since = request.headers().get(HttpHeaderNames.IF_MODIFIED_SINCE);
        Date date = since == null ? null : DateFormatter.parseHttpDate(since);
        return date != null && document.modifiedMillis() / 1000 <= date.getTime() / 1000;
    }

    private static ChannelFuture refuse(ChannelHandlerContext context, HttpRequest request, HttpResponseStatus status) {
        ByteBuf text = request.method().equals(HttpMethod.HEAD)
                ? Unpooled.EMPTY_BUFFER
                : ByteBufUtil.writeUtf8(context.alloc(), status + "\n");
        HttpResponse answer = new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, status, text);
        HttpHeaders headers = answer.headers();
        headers.set(HttpHeaderNames.CONTENT_TYPE, "text/plain");
        headers.set(HttpHeaderNames.CONTENT_LENGTH, status.toString().length() + 1);
        if (status.equals(HttpResponseStatus.METHOD_NOT_ALLOWED)) {
            headers.set(HttpHeaderNames.ALLOW, "GET, HEAD");
        }
        setDateAndConnection(headers, request);
        return context.write(answer);
    }

    /** RFC 9112, 9.3: HTTP/1.1 stays open, HTTP/1.0 closes; the contrary must be said, or `ab -k` waits for the end. */
    private static void setDateAndConnection(HttpHeaders headers, HttpRequest request) {
        headers.set(HttpHeaderNames.DATE, HttpDate.now());
        boolean keep = HttpUtil.isKeepAlive(request) && !request.decoderResult().isFailure();
        if (!keep) {
            headers.set(HttpHeaderNames.CONNECTION, HttpHeaderValues.CLOSE);
        } else if (!request.protocolVersion().isKeepAliveDefault()) {
            headers.set(HttpHeaderNames.CONNECTION, HttpHeaderValues.KEEP_ALIVE);
        }
    }
}
