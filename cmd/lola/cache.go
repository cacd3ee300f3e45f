package main

import (
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/lola-ext/lola/host"
)

func (a *app) cacheCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "cache",
		Short: "Look at what is kept to be quicker: compiled code, and what extensions answered",
		Long: "Look at what is kept in LOLA_HOME to be quicker: code that modules were compiled to, and what extensions\n" +
			"answered. All of it can go at any time, and what was altered is dropped and made again.",
		Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.cacheListCommand(), a.cacheWarmCommand(), a.cachePruneCommand())
	return cmd
}

func (a *app) cacheListCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:                   "list [--json]",
		Aliases:               []string{"ls"},
		Short:                 "List compiled code, and say how many answers are remembered",
		DisableFlagsInUseLine: true,
		Args:                  args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			h, err := a.host()
			if err != nil {
				return err
			}
			defer h.Close()
			c, err := h.Cache(cmd.Context())
			if err != nil {
				return err
			}
			if asJSON {
				return a.printJSON(c)
			}
			if err := a.printCode(c); err != nil {
				return err
			}
			fmt.Fprintf(a.stdout, "remembered: %s, %d bytes\n", counted(c.Memo.Answers, "answer"), c.Memo.Bytes)
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	return cmd
}

// printCode prints compiled code as a table, and what is odd about it as notes.
func (a *app) printCode(c host.Cache) error {
	if c.WhyNot != "" {
		fmt.Fprintf(a.stderr, "lola: note: %s\n", escape(c.WhyNot))
	}
	if len(c.Code) == 0 {
		fmt.Fprintln(a.stdout, "no compiled code is kept")
		return nil
	}
	w := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "MODULE\tBYTES\tUSED\tENGINE\tFOR\tBUILD\tEXTENSIONS")
	for _, e := range c.Code {
		if e.Damage != "" {
			fmt.Fprintf(a.stderr, "lola: note: %s will be dropped: %s\n", escape(e.ID), escape(e.Damage))
			continue
		}
		name := strings.Join(e.Extensions, ", ")
		if name == "" {
			name = e.Name
		}
		if e.Stale {
			name += " (of a program that is gone)"
		}
		fmt.Fprintf(w, "%.12s\t%d\t%s\t%s\t%s/%s %s\t%.12s\t%s\n", e.Key.Module, e.Size, e.Used.Format(time.RFC3339),
			escape(e.Key.Engine), escape(e.Key.OS), escape(e.Key.Arch), escape(e.Key.CPU), e.Key.Build, escape(name))
	}
	return w.Flush()
}

func (a *app) cacheWarmCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:                   "warm [--require-confinement LEVEL] [--json]",
		Short:                 "Compile all extensions now, so that their first run does not",
		DisableFlagsInUseLine: true,
		Args:                  args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			h, err := a.host()
			if err != nil {
				return err
			}
			defer h.Close()
			list, err := h.WarmCache(cmd.Context())
			if err != nil {
				return err
			}
			if asJSON {
				return a.printJSON(list)
			}
			for _, w := range list {
				did := "compiled already"
				switch {
				case !w.Kept:
					did = "not kept on this machine (see \"lola cache list\")"
				case w.Compiled:
					did = "compiled"
				}
				fmt.Fprintf(a.stdout, "%s: %s\n", escape(strings.Join(w.Extensions, ", ")), did)
				for _, n := range w.Notes {
					fmt.Fprintf(a.stderr, "lola: note: %s\n", escape(n))
				}
			}
			return nil
		},
	}
	a.confinementFlag(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	return cmd
}

func (a *app) cachePruneCommand() *cobra.Command {
	var all, asJSON bool
	cmd := &cobra.Command{
		Use:   "prune [--all] [--json]",
		Short: "Drop compiled code that is of no more use",
		Long: "Drop compiled code that is of no more use: that of a program that is gone, what was altered, and what was used\n" +
			"longest ago beyond 1 GiB or 256 modules. With --all everything goes, remembered answers too.",
		DisableFlagsInUseLine: true,
		Args:                  args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			h, err := a.host()
			if err != nil {
				return err
			}
			defer h.Close()
			c, err := h.PruneCache(cmd.Context(), all)
			if err != nil {
				return err
			}
			if asJSON {
				return a.printJSON(c)
			}
			var bytes int64
			for _, e := range c.Code {
				bytes += e.Size
			}
			fmt.Fprintf(a.stdout, "dropped the code of %s, %d bytes\n", counted(len(c.Code), "module"), bytes)
			if all {
				fmt.Fprintf(a.stdout, "dropped %s, %d bytes\n", counted(c.Memo.Answers, "answer"), c.Memo.Bytes)
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "drop everything")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	return cmd
}

// counted is a number of things, "1 module" or "2 modules".
func counted(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return fmt.Sprintf("%d %s", n, thing)
}
