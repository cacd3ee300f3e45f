package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/lola-ext/lola/host"
)

func (a *app) extCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "ext",
		Short: "Look at extensions",
		Args:  args(cobra.NoArgs),
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.extListCommand(), a.extInfoCommand())
	return cmd
}

func (a *app) extListCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:                   "list [--json]",
		Aliases:               []string{"ls"},
		Short:                 "List extensions, the built-in targets included",
		Long:                  "List extensions, the built-in targets included. LEVEL is what this machine confines them to; \"lola doctor\" says why.",
		DisableFlagsInUseLine: true,
		Args:                  args(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			h, err := a.host()
			if err != nil {
				return err
			}
			defer h.Close()
			if asJSON {
				return a.printJSON(h.Extensions())
			}
			w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
			fmt.Fprintln(w, "NAME\tVERSION\tKIND\tTIER\tLEVEL\tDIGEST")
			for _, e := range h.Extensions() {
				fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%.12s\n", e.Name, e.Version, e.Kind, e.Tier, e.Level, e.Digest)
			}
			return w.Flush()
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	return cmd
}

// maxModule bounds what is read of a file that is said to be a WASM module: the engine takes no larger one.
const maxModule = 64 << 20

func (a *app) extInfoCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:                   "info NAME|FILE.wasm [--json]",
		Short:                 "Show an extension: what it may do, what it exports and imports",
		Long:                  "Show an extension by name, or any WASM module by file. The module is parsed in a child process.",
		DisableFlagsInUseLine: true,
		Args:                  args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			h, err := a.host()
			if err != nil {
				return err
			}
			defer h.Close()
			var (
				ext      *host.Extension
				artifact []byte
			)
			if strings.HasSuffix(args[0], ".wasm") || strings.ContainsAny(args[0], `/\`) {
				artifact, err = readModule(args[0])
			} else {
				var e host.Extension
				if e, err = h.Extension(args[0]); err == nil {
					ext = &e
					artifact, err = h.Artifact(e.Name)
				}
			}
			if err != nil {
				return err
			}
			info, err := h.Inspect(cmd.Context(), artifact)
			if err != nil {
				return err
			}
			if asJSON {
				return a.printJSON(struct {
					Extension *host.Extension  `json:"extension,omitempty"`
					Module    *host.Inspection `json:"module"`
				}{ext, info})
			}
			a.printInfo(ext, info)
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	a.confinementFlag(cmd)
	return cmd
}

func readModule(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("reading the module: %w", err)
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, fmt.Errorf("reading the module %q: it is no regular file", path)
	}
	b, err := io.ReadAll(io.LimitReader(f, maxModule+1))
	if err != nil {
		return nil, fmt.Errorf("reading the module: %w", err)
	}
	if len(b) > maxModule {
		return nil, fmt.Errorf("reading the module %q: it is larger than %d bytes", path, maxModule)
	}
	return b, nil
}

func (a *app) printInfo(ext *host.Extension, info *host.Inspection) {
	w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
	if ext != nil {
		fmt.Fprintf(w, "name\t%s\nversion\t%s\nkind\t%s\ntier\t%s\nlevel\t%s\nactions\t%s\n",
			ext.Name, ext.Version, ext.Kind, ext.Tier, ext.Level, strings.Join(ext.Actions, ", "))
		for _, g := range ext.May {
			fmt.Fprintf(w, "grant\t%s\n", escape(g))
		}
	}
	fmt.Fprintf(w, "form\t%s\n", info.Form)
	if info.ABI != 0 {
		fmt.Fprintf(w, "abi\t%d\n", info.ABI)
	}
	fmt.Fprintf(w, "size\t%d bytes\nsha256\t%s\nmemory\t%d bytes at first\n", info.Size, info.Digest, info.MemoryMin)
	fmt.Fprintf(w, "confined\t%s, as the child that looked at it\n", info.Words())
	if info.Problem != "" {
		fmt.Fprintf(w, "problem\t%s\n", escape(info.Problem))
	}
	for _, e := range info.Exports {
		fmt.Fprintf(w, "export\t%s\n", escape(e))
	}
	if info.MoreExports > 0 {
		fmt.Fprintf(w, "export\tand %d more\n", info.MoreExports)
	}
	for _, i := range info.Imports {
		fmt.Fprintf(w, "import\t%s\n", escape(i))
	}
	if info.MoreImports > 0 {
		fmt.Fprintf(w, "import\tand %d more\n", info.MoreImports)
	}
	w.Flush()
}
