package staticserver;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.handler.codec.http.HttpServerCodec;
import java.nio.file.Path;

/**
 * A static-file server as one writes it with Netty: a boss that accepts, workers that serve, the library's HTTP codec
 * and one handler. Arguments: port, folder, and optionally the number of workers and the backlog; without them Netty's
 * own defaults, twice the CPUs and net.core.somaxconn.
 */
public final class StaticServer {
    private StaticServer() {}

    public static void main(String[] arguments) {
        try {
            serve(arguments);
        } catch (Exception failure) {
            // The event loops are no daemon threads: a port that is taken would leave a process that does nothing.
            System.err.println("netty: " + failure);
            System.exit(1);
        }
    }

    private static void serve(String[] arguments) throws Exception {
        int port = Integer.parseInt(arguments[0]);
        Documents documents = new Documents(Path.of(arguments[1]).toRealPath());
        boolean tuned = arguments.length == 4;

        EventLoopGroup boss = new NioEventLoopGroup(1);
        EventLoopGroup workers = new NioEventLoopGroup(tuned ? Integer.parseInt(arguments[2]) : 0); // 0: the default
        ServerBootstrap bootstrap = new ServerBootstrap()
                .group(boss, workers)
                .channel(NioServerSocketChannel.class)
                .childHandler(new ChannelInitializer<SocketChannel>() {
                    @Override
                    protected void initChannel(SocketChannel channel) {
                        channel.pipeline().addLast(new HttpServerCodec(), new DocumentHandler(documents));
                    }
                });
        if (tuned) {
            bootstrap.option(ChannelOption.SO_BACKLOG, Integer.parseInt(arguments[3]));
        }
        // SIGTERM ends the process, as it ends any Java program: there is nothing to save.
        bootstrap.bind("127.0.0.1", port).sync().channel().closeFuture().sync();
    }
}
