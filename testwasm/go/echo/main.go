// Echo answers with a plan that shows the whole request: a message for what it asks, one for each parameter and input, and a
// write for each file of the module. The guest in Rust answers the same request with the same bytes.
package main

import (
	"slices"
	"strconv"

	"github.com/lola-ext/lola/sdk/ext"
)

func init() { ext.Register(echo) }

func main() { ext.Main() }

func echo(req *ext.Request, plan *ext.Plan) error {
	plan.Info("action " + req.Action + " of " + req.Extension.Name + " " + req.Extension.Version + " scope " + string(req.Scope))
	names := make([]string, 0, len(req.Params))
	for name := range req.Params {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		plan.Info("param " + name + " " + show(req.Params[name]))
	}
	for _, in := range req.Inputs {
		plan.Info("input " + in.Path + " " + string(in.State) + " " + strconv.Itoa(len(in.Content)))
	}
	if req.Module == nil {
		return nil
	}
	plan.Info("module " + req.Module.Name + " " + req.Module.Version)
	for _, file := range req.Module.Files {
		w := ext.Write{Path: "echo/" + file.Path, Mode: file.Mode}
		if file.Content != nil {
			w.Content = ext.Bytes(file.Content)
		} else {
			w.Module = file.Path
		}
		plan.Add(w)
	}
	return nil
}

func show(p ext.Param) string {
	switch p := p.(type) {
	case string:
		return "text " + p
	case int64:
		return "int " + strconv.FormatInt(p, 10)
	case bool:
		return "bool " + strconv.FormatBool(p)
	}
	return "of no type"
}
