package engine

import (
	"slices"
	"strings"

	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"

	"github.com/lola-ext/lola/shim/job"
)

// signature is the type of an exported function of the guest ABI.
type signature struct {
	name            string
	params, results []api.ValueType
}

var (
	i32 = []api.ValueType{api.ValueTypeI32}
	// reactorExports are the functions that a module in reactor form must export.
	reactorExports = []signature{
		{"lola_abi_version", nil, i32},
		{"lola_alloc", i32, i32},
		{"lola_run", []api.ValueType{api.ValueTypeI32, api.ValueTypeI32}, i32},
		{"lola_plan_ptr", nil, i32},
		{"lola_plan_len", nil, i32},
	}
	initializeExport = signature{"_initialize", nil, nil}
	startExport      = signature{"_start", nil, nil}
)

// check decides which form the module has, and refuses it if it is none, or none in full, or if it imports what it must
// not. It runs nothing.
//
// Postconditions: without an error, every function that the form calls is there with its type.
func (m *Module) check() error {
	exports := m.compiled.ExportedFunctions()
	var reactor bool
	for name := range exports {
		reactor = reactor || strings.HasPrefix(name, "lola_")
	}
	_, command := exports["_start"]
	switch {
	case reactor:
		m.form = job.FormReactor
	case command:
		m.form = job.FormCommand
	}
	if err := m.checkImports(); err != nil {
		return err
	}
	switch {
	case reactor && command:
		return fail(job.BadExport, "it exports both _start and lola_ functions: it must be of one form")
	case !reactor && !command:
		return fail(job.BadExport, "it exports neither lola_run nor _start: it is no extension")
	}
	// WASI takes the memory for granted, and so does wazero.
	if _, ok := m.compiled.ExportedMemories()["memory"]; !ok {
		return fail(job.BadExport, "it exports no memory under the name %q", "memory")
	}
	switch {
	case reactor:
		for _, s := range reactorExports {
			if err := checkExport(exports, s); err != nil {
				return err
			}
		}
		if _, ok := exports[initializeExport.name]; ok {
			if err := checkExport(exports, initializeExport); err != nil {
				return err
			}
		}
		return nil
	default:
		return checkExport(exports, startExport)
	}
}

// checkExport wants a function of the module's own with the type of s.
func checkExport(exports map[string]api.FunctionDefinition, s signature) error {
	def, ok := exports[s.name]
	if !ok {
		return fail(job.BadExport, "it does not export %s", s.name)
	}
	if _, _, imported := def.Import(); imported {
		return fail(job.BadExport, "its %s is an import that it exports again", s.name)
	}
	if !slices.Equal(def.ParamTypes(), s.params) || !slices.Equal(def.ResultTypes(), s.results) {
		return fail(job.BadExport, "its %s is %s, want %s", s.name,
			typeString(def.ParamTypes(), def.ResultTypes()), typeString(s.params, s.results))
	}
	return nil
}

// checkImports wants every import to be a function of WASI preview 1 with its type.
func (m *Module) checkImports() error {
	for _, e := range m.layout.imports {
		_, known := m.wasi[e.name]
		if e.kind != 0 || e.module != wasi_snapshot_preview1.ModuleName || !known {
			return fail(job.ForbiddenImport, "it imports the %s %q from %q", importKinds[e.kind], e.name, e.module)
		}
	}
	for _, def := range m.compiled.ImportedFunctions() {
		_, name, _ := def.Import()
		want := m.wasi[name]
		if !slices.Equal(def.ParamTypes(), want.ParamTypes()) || !slices.Equal(def.ResultTypes(), want.ResultTypes()) {
			return fail(job.ForbiddenImport, "it imports %q as %s, which is %s", name,
				typeString(def.ParamTypes(), def.ResultTypes()), typeString(want.ParamTypes(), want.ResultTypes()))
		}
	}
	return nil
}

// describe says what the module has.
func (m *Module) describe() job.Info {
	info := job.Info{Form: m.form, MemoryMin: int64(m.layout.memoryMin) * pageSize, MemoryMax: int64(m.layout.memoryMax) * pageSize}
	functions := m.compiled.ImportedFunctions()
	for _, e := range m.layout.imports {
		n := job.Name{Kind: importKinds[e.kind], Module: e.module, Name: e.name}
		if e.kind == 0 && len(functions) > 0 { // both lists are in the module's order
			n.Type = typeString(functions[0].ParamTypes(), functions[0].ResultTypes())
			functions = functions[1:]
		}
		info.Imports = append(info.Imports, n)
	}
	for name, def := range m.compiled.ExportedFunctions() {
		info.Exports = append(info.Exports, job.Name{Kind: "func", Name: name, Type: typeString(def.ParamTypes(), def.ResultTypes())})
	}
	for name := range m.compiled.ExportedMemories() {
		info.Exports = append(info.Exports, job.Name{Kind: "memory", Name: name})
	}
	slices.SortFunc(info.Exports, func(a, b job.Name) int {
		return strings.Compare(a.Kind+"\x00"+a.Name, b.Kind+"\x00"+b.Name)
	})
	return info
}

func typeString(params, results []api.ValueType) string {
	list := func(types []api.ValueType) string {
		var names []string
		for _, t := range types {
			names = append(names, api.ValueTypeName(t))
		}
		return "(" + strings.Join(names, ", ") + ")"
	}
	return list(params) + " -> " + list(results)
}
