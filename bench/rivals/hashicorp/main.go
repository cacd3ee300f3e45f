// Hashicorp asks a native child by hashicorp/go-plugin. This program is host and plug-in.
//
//	hashicorp netrpc|grpc
package main

import (
	"context"
	"errors"
	"net/rpc"
	"os"
	"os/exec"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/lola-ext/lola/bench/rivals/answer"
)

var handshake = plugin.HandshakeConfig{ProtocolVersion: 1, MagicCookieKey: "BENCH_PLUGIN", MagicCookieValue: "plan"}

// asker is what either way gives.
type asker interface {
	Ask(request string) ([]byte, error)
}

func main() {
	if os.Getenv(handshake.MagicCookieKey) != "" {
		config := &plugin.ServeConfig{HandshakeConfig: handshake, Logger: hclog.NewNullLogger(), Plugins: plugins(os.Args[1])}
		if os.Args[1] == "grpc" {
			config.GRPCServer = plugin.DefaultGRPCServer
		}
		plugin.Serve(config)
		return
	}
	answer.Exit(run(os.Args[1]))
}

func plugins(way string) plugin.PluginSet {
	if way == "grpc" {
		return plugin.PluginSet{"plan": &overGRPC{}}
	}
	return plugin.PluginSet{"plan": &overNetRPC{}}
}

func run(way string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	client := plugin.NewClient(&plugin.ClientConfig{
		HandshakeConfig: handshake, Plugins: plugins(way), Cmd: exec.Command(self, way), Logger: hclog.NewNullLogger(),
		AllowedProtocols: []plugin.Protocol{plugin.ProtocolNetRPC, plugin.ProtocolGRPC},
	})
	defer client.Kill()
	protocol, err := client.Client()
	if err != nil {
		return err
	}
	raw, err := protocol.Dispense("plan")
	if err != nil {
		return err
	}
	extension, ok := raw.(asker)
	if !ok {
		return errors.New("dispense: it cannot be asked")
	}
	reply, err := extension.Ask(answer.Request)
	if err != nil {
		return err
	}
	return answer.Check(reply)
}

type overNetRPC struct{}

// Server implements plugin.Plugin.
func (*overNetRPC) Server(*plugin.MuxBroker) (any, error) { return &netRPCServer{}, nil }

// Client implements plugin.Plugin.
func (*overNetRPC) Client(_ *plugin.MuxBroker, c *rpc.Client) (any, error) {
	return &netRPCClient{c}, nil
}

type netRPCServer struct{}

// Ask is called by net/rpc.
func (*netRPCServer) Ask(request string, reply *[]byte) (err error) {
	*reply, err = answer.Make([]byte(request))
	return err
}

type netRPCClient struct{ client *rpc.Client }

func (c *netRPCClient) Ask(request string) (reply []byte, err error) {
	err = c.client.Call("Plugin.Ask", request, &reply)
	return reply, err
}

type overGRPC struct{ plugin.NetRPCUnsupportedPlugin }

// GRPCServer implements plugin.GRPCPlugin.
func (*overGRPC) GRPCServer(_ *plugin.GRPCBroker, s *grpc.Server) error {
	s.RegisterService(&service, nil)
	return nil
}

// GRPCClient implements plugin.GRPCPlugin.
func (*overGRPC) GRPCClient(_ context.Context, _ *plugin.GRPCBroker, c *grpc.ClientConn) (any, error) {
	return &grpcClient{c}, nil
}

// service is what protoc would have written for one call with a string in and bytes out.
var service = grpc.ServiceDesc{
	ServiceName: "bench.Planner", HandlerType: (*any)(nil),
	Methods: []grpc.MethodDesc{{MethodName: "Ask", Handler: func(_ any, _ context.Context, decode func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
		var request wrapperspb.StringValue
		if err := decode(&request); err != nil {
			return nil, err
		}
		reply, err := answer.Make([]byte(request.GetValue()))
		return wrapperspb.Bytes(reply), err
	}}},
}

type grpcClient struct{ conn *grpc.ClientConn }

func (c *grpcClient) Ask(request string) ([]byte, error) {
	var reply wrapperspb.BytesValue
	err := c.conn.Invoke(context.Background(), "/bench.Planner/Ask", wrapperspb.String(request), &reply)
	return reply.GetValue(), err
}
