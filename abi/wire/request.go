package wire

import (
	"io"

	"github.com/lola-ext/lola/abi"
)

func requestWalker(lim abi.Limits) walker {
	return walker{lim: lim, what: "request", keepMax: lim.Request, keepOver: abi.ClassLimitPlan, src: source{max: lim.Request}}
}

// DecodeRequest reads a request of the CBOR form, to the end of r. All of it is held in memory.
func DecodeRequest(r io.Reader, opts Options) (*abi.Request, error) {
	lim, err := opts.Limits.Resolve()
	if err != nil {
		return nil, err
	}
	d := &Decoder{w: requestWalker(lim)}
	if opts.Size > lim.Request {
		return nil, d.w.failLimit(abi.ClassLimitPlan, "request", lim.Request, uint64(opts.Size))
	}
	d.w.src = newSource(r, lim.Request, opts.Size)
	return d.request()
}

// DecodeRequestJSON is [DecodeRequest] for the JSON form.
func DecodeRequestJSON(r io.Reader, opts Options) (*abi.Request, error) {
	lim, err := opts.Limits.Resolve()
	if err != nil {
		return nil, err
	}
	d := &Decoder{w: requestWalker(lim)}
	d.json = newLineReader(r, "request", lim.Request, &d.w)
	return d.request()
}

func (d *Decoder) request() (*abi.Request, error) {
	if err := d.item(requestShape); err == io.EOF {
		return nil, d.w.fail(abi.ClassEmpty, "no bytes")
	} else if err != nil {
		return nil, err
	}
	if err := d.atEnd(); err != io.EOF {
		return nil, err
	}
	var raw wireRequest
	if err := unmarshal(d.w.keep, &raw); err != nil {
		return nil, err
	}
	req := raw.request()
	if err := checkOrder(req); err != nil {
		return nil, err
	}
	return req, nil
}

func (raw *wireRequest) request() *abi.Request {
	req := &abi.Request{Action: raw.Action, Extension: abi.Identity(raw.Extension), Scope: raw.Scope}
	if raw.Params != nil {
		req.Params = make(map[string]abi.Param, len(raw.Params))
		for k, v := range raw.Params {
			req.Params[k] = v
		}
	}
	if m := raw.Module; m != nil {
		req.Module = &abi.Module{Identity: abi.Identity{Name: m.Name, Version: m.Version}, Digest: m.Digest,
			Files: make([]abi.File, len(m.Files))}
		for i, f := range m.Files {
			req.Module.Files[i] = abi.File(f)
		}
	}
	if raw.Inputs != nil {
		req.Inputs = make([]abi.Input, len(raw.Inputs))
		for i, in := range raw.Inputs {
			req.Inputs[i] = abi.Input(in)
		}
	}
	return req
}

func rawRequest(req *abi.Request) wireRequest {
	raw := wireRequest{ABI: abi.Version, Action: req.Action, Extension: wireIdentity(req.Extension), Scope: req.Scope}
	if req.Params != nil {
		raw.Params = make(map[string]any, len(req.Params))
		for k, v := range req.Params {
			raw.Params[k] = v
		}
	}
	if m := req.Module; m != nil {
		raw.Module = &wireModule{Name: m.Name, Version: m.Version, Digest: m.Digest, Files: make([]wireFile, len(m.Files))}
		for i, f := range m.Files {
			raw.Module.Files[i] = wireFile(f)
		}
	}
	if req.Inputs != nil {
		raw.Inputs = make([]wireInput, len(req.Inputs))
		for i, in := range req.Inputs {
			raw.Inputs[i] = wireInput(in)
		}
	}
	return raw
}

// checkOrder holds the two lists of a request to their order. The walker sees one element at a time and cannot.
func checkOrder(req *abi.Request) error {
	if req.Module != nil {
		for i := 1; i < len(req.Module.Files); i++ {
			if a, b := req.Module.Files[i-1].Path, req.Module.Files[i].Path; a >= b {
				return orderError("module.files", a, b)
			}
		}
	}
	for i := 1; i < len(req.Inputs); i++ {
		if a, b := req.Inputs[i-1].Path, req.Inputs[i].Path; a >= b {
			return orderError("inputs", a, b)
		}
	}
	return nil
}
