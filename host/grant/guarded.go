package grant

import (
	"strings"
	"sync"

	"github.com/lola-ext/lola/host/internal/fold"
)

// Guard is the reason why a path is guarded.
type Guard struct {
	Pattern string // the row of the table that the path falls under, a [Glob] that may lie at any depth
	Why     string // what obeys such a file, for a person to read: "direnv runs it in whoever enters the folder"
}

// guards lists what other programs execute or obey without being asked: when a folder is opened or entered, when a shell or
// a session starts, when Git or a package manager does its ordinary work, when a push is built. Such a path matches no glob;
// a grant must name it literally.
//
// A row holds at every depth, since any folder can be the one that is opened, entered or cloned; letter case and
// normalisation do not count. Rows marked asSource are about the source tree of a project. They
// do not hold within the folder of an assistant's skill (see [inSkill]): nobody builds, tests or pushes from there, and
// skills bring such files as their own.
//
// Left out: what no plan may name at all, such as ".git" (host/plan refuses it); what runs only when a person names it
// (Makefile, justfile, Dockerfile, compose files); what is text for a model to read (CLAUDE.md, rules, skills; what they make
// run is asked for by module); and what only changes how a file looks.
var guards = []row{
	// Assistants.
	{why: "Claude Code and others start the programs it names when a session opens", patterns: []string{
		".mcp.json", ".claude.json", ".claude/mcp.json", ".lsp.json", ".github/mcp.json", ".github/lsp.json"}},
	{why: "Claude Code runs the hooks in it, and takes permissions and environment from it", patterns: []string{".claude/settings*.json"}},
	{why: "Claude Code runs what lies there by itself", patterns: []string{
		".claude/hooks/**", ".claude/plugins/**", ".claude-plugin/**", "hooks/hooks.json", ".claude/launch.json", ".claude/scheduled_tasks.json",
		".claude/statusline*"}},
	{why: "Cursor runs the commands in it, or takes permissions from it", patterns: []string{
		".cursor/mcp.json", ".cursor/hooks.json", ".cursor/hooks/**", ".cursor/environment.json", ".cursor/worktrees.json", ".cursor/cli.json",
		".cursor/cli-config.json", ".cursor/permissions.json", ".cursor/sandbox.json", ".cursor/plugins/**", ".cursor-plugin/**", ".cursor/extensions/**"}},
	{why: "Gemini CLI runs the servers and hooks in it, or takes environment and policy from it", patterns: []string{
		".gemini/settings.json", ".gemini/hooks/**", ".gemini/extensions/**", ".gemini/policies/**", ".gemini/.env", ".gemini/sandbox*",
		".gemini/trustedFolders.json", "gemini-extension.json"}},
	{why: "OpenCode loads the plugins and starts the servers in it", patterns: []string{
		"opencode.json", "opencode.jsonc", ".opencode.json", ".opencode/config.json"}},
	{why: "OpenCode loads what lies there as code", patterns: []string{
		".opencode/plugin/**", ".opencode/plugins/**", ".opencode/tool/**", ".opencode/tools/**", ".opencode/package.json", ".opencode/node_modules/**",
		".config/opencode/plugin/**", ".config/opencode/plugins/**", ".config/opencode/tool/**", ".config/opencode/tools/**",
		".config/opencode/package.json", ".config/opencode/node_modules/**"}},
	{why: "Codex runs the servers and hooks in it, or takes its command rules from it", patterns: []string{
		".codex/*.toml", ".codex/hooks.json", ".codex/hooks/**", ".codex/rules/**", ".codex/plugins/**", ".codex/.env"}},
	{why: "Copilot runs the hooks and servers in it", patterns: []string{
		".github/hooks/**", ".github/extensions/**", ".github/copilot/settings*.json", ".copilot/mcp-config.json", ".copilot/config.json",
		".copilot/settings*.json", ".copilot/hooks/**", ".copilot/extensions/**", ".copilot/installed-plugins/**"}},
	{why: "an assistant starts the servers or runs the hooks in it", patterns: []string{
		".*/mcp.json", ".*/mcp_config.json", ".*/mcp-config.json", ".*/mcp_settings.json", ".*/hooks.json", ".*/hooks/**", ".*/settings/mcp.json",
		".*/mcp/mcp.json", ".codeium/**", ".continue/config.*", ".continue/mcpServers/**", ".amazonq/cli-agents/**", ".kiro/settings/**",
		".qwen/settings.json", ".amp/settings.json", ".amp/plugins/**", ".factory/settings*.json", ".augment/settings*.json", ".crush.json", "crush.json",
		".aider.conf.yml", ".agents/plugins/**"}},

	// Editors and development environments.
	{why: "VS Code and its kin run tasks, terminals and tools by it when the folder is opened", patterns: []string{
		".vscode/*.json", "*.code-workspace", "Code/User/*.json", "Cursor/User/*.json"}},
	{why: "JetBrains tools run configurations, watchers and start-up tasks from it", patterns: []string{".idea/**", ".fleet/**"}},
	{why: "Visual Studio runs tasks from it", patterns: []string{".vs/**"}},
	{why: "Zed runs tasks and language servers by it", patterns: []string{".zed/**"}},
	{why: "Vim or Neovim runs it when started in the folder", patterns: []string{
		".vimrc", "_vimrc", ".gvimrc", ".exrc", ".nvimrc", ".nvim.lua", ".lvimrc", ".vim/**", ".config/nvim/**"}},
	{why: "Emacs evaluates it", patterns: []string{".dir-locals.el", ".dir-locals-2.el", ".emacs", ".emacs.d/**", ".config/emacs/**"}},
	{why: "a debugger, interpreter or console runs it when started", patterns: []string{
		".gdbinit", ".lldbinit", ".pdbrc", ".ghci", ".irbrc", ".pryrc", ".Rprofile", ".Renviron", ".octaverc", ".psqlrc", ".sqliterc", ".pythonrc.py",
		".ipython/**", ".jupyter/**", ".julia/config/startup.jl"}},
	{why: "the development container or cloud workspace runs commands from it when it starts", asSource: true, patterns: []string{
		".devcontainer/**", ".devcontainer.json", "devcontainer.json", ".gitpod.yml", ".codesandbox/**", ".replit", ".idx/**"}},
	{why: "language servers and editor plugins load it as code or run what it names", asSource: true, patterns: []string{
		".luarc.json", ".luarc.jsonc", ".eslintrc*", "eslint.config.*", ".prettierrc*", "prettier.config.*", "stylelint.config.*", ".stylelintrc*",
		"tailwind.config.*", "postcss.config.*", ".postcssrc*", "vite.config.*", "vitest.config.*", "vitest.workspace.*", "jest.config.*", "babel.config.*",
		".babelrc*", "svelte.config.*", "astro.config.*", "nuxt.config.*", "next.config.*", "webpack.config.*", "rollup.config.*", ".rubocop.yml",
		".rspec", "Gemfile", "Gemfile.local"}},
	{why: "editors evaluate it when the project is opened", asSource: true, patterns: []string{
		"build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts", "gradle.properties", "gradle/wrapper/**", ".mvn/**", "pom.xml",
		"build.sbt", "project/*.sbt", "*.csproj", "*.fsproj", "*.vbproj", "*.vcxproj", "Directory.Build.props", "Directory.Build.targets",
		"Directory.Packages.props", "CMakeLists.txt", "CMakePresets.json", "CMakeUserPresets.json", "meson.build", "mix.exs", "Package.swift", "build.rs",
		"flake.nix", "shell.nix", "default.nix"}},

	// What Git obeys, and what runs with it.
	{why: "Git takes filters, drivers, addresses or programs from it", patterns: []string{
		".gitattributes", ".gitmodules", ".gitconfig", ".config/git/**", ".lfsconfig", ".hgrc"}},
	{why: "it runs with Git's hooks", patterns: []string{
		".husky/**", ".huskyrc*", ".githooks/**", ".git-hooks/**", ".git_hooks/**", ".pre-commit-config.yaml", ".pre-commit-config.yml",
		"lefthook.*", ".lefthook.*", "lefthook-local.*", ".lefthook-local.*", ".lefthook/**", ".config/lefthook.*", ".overcommit.yml", ".git-hooks.toml",
		".lintstagedrc*", "lint-staged.config.*", ".simple-git-hooks.*", "simple-git-hooks.*", "commitlint.config.*", ".commitlintrc*", "captainhook.json",
		"hk.pkl", "prek.toml"}},

	// What runs or rules when a shell, a session or a folder is entered.
	{why: "direnv, mise or the like runs it in whoever enters the folder", patterns: []string{
		".envrc", ".autoenv", ".autoenv.zsh", ".autoenv.leave", "mise.toml", ".mise.toml", "mise.*.toml", ".mise.*.toml", ".mise/**", ".config/mise/**",
		"devenv.nix", ".tool-versions", "rust-toolchain", "rust-toolchain.toml"}},
	{why: "programs started in the folder take their environment from it", asSource: true, patterns: []string{
		".env", ".env.local", ".env.*.local", ".env.development", ".env.production", ".env.test", ".flaskenv"}},
	{why: "the shell runs it when it starts or ends", patterns: []string{
		".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases", ".bash_completion", ".bashrc.d/**", ".profile", ".zshrc", ".zshenv",
		".zprofile", ".zlogin", ".zlogout", ".zshrc.d/**", ".oh-my-zsh/**", ".kshrc", ".mkshrc", ".cshrc", ".tcshrc", ".login", ".logout", ".inputrc",
		".config/fish/**", ".config/nushell/**", ".config/elvish/**", ".config/xonsh/**", ".xonshrc", ".config/powershell/**", "profile.ps1",
		"*_profile.ps1", ".config/starship.toml"}},
	{why: "it runs at login or by the clock", patterns: []string{
		".xprofile", ".xinitrc", ".xsession", ".xsessionrc", ".xserverrc", ".pam_environment", ".config/environment.d/**", ".config/autostart/**",
		".config/systemd/**", ".local/share/systemd/**", ".config/plasma-workspace/**", ".config/hypr/**", ".config/sway/**", ".config/i3/**", ".i3/**",
		"Library/LaunchAgents/**", "Library/LaunchDaemons/**", "Start Menu/Programs/Startup/**", "crontab", ".crontab", ".config/crontab", "autorun.inf",
		"desktop.ini"}},
	{why: "the terminal runs commands from it when it starts", patterns: []string{
		".tmux.conf", ".config/tmux/**", ".screenrc", ".config/zellij/**", ".wezterm.lua", ".config/wezterm/**", ".config/kitty/**", ".config/alacritty/**",
		".config/ghostty/**"}},
	{why: "it shadows programs that are started by name", patterns: []string{".local/bin/**", ".cargo/bin/**", "node_modules/.bin/**"}},
	{why: "it decides who may log in, and which programs connect", patterns: []string{".ssh/**", ".rhosts", ".shosts", ".k5login"}},
	{why: "GnuPG takes keys, trust and programs from it", patterns: []string{".gnupg/**"}},
	{why: "command-line tools run credential helpers or plugins that it names", patterns: []string{
		".docker/config.json", ".docker/cli-plugins/**", ".kube/config", ".aws/config", ".config/gh/**", ".terraformrc", "terraform.rc", ".config/containers/**"}},

	// Package managers and build tools in their ordinary work.
	{why: "npm and its kin run its scripts when packages are installed", asSource: true, patterns: []string{"package.json"}},
	{why: "package managers take registries, programs or plugins from it", asSource: true, patterns: []string{
		".npmrc", ".yarnrc", ".yarnrc.*", ".yarn/**", ".pnp.*", ".pnpmfile.*", "pnpmfile.*", "pnpm-workspace.yaml", "bunfig.toml", ".bunfig.toml", "composer.json",
		"pip.conf", "pip.ini", ".pip/**", "uv.toml", ".pypirc", ".pydistutils.cfg", "setup.cfg", ".condarc", ".bundle/**", ".gemrc",
		".gradle/init.gradle", ".gradle/init.gradle.kts", ".gradle/init.d/**", ".gradle/gradle.properties", ".m2/**", "NuGet.Config"}},
	{why: "Cargo takes linkers, wrappers and registries from it", asSource: true, patterns: []string{".cargo/config", ".cargo/config.toml", ".cargo/env"}},
	{why: "Bazel takes flags from it or runs it in its own place", asSource: true, patterns: []string{".bazelrc", ".bazeliskrc", "tools/bazel", "tools/bazel.*"}},
	{why: "Python loads it by itself", asSource: true, patterns: []string{
		"conftest.py", "sitecustomize.py", "usercustomize.py", "site-packages/**", ".venv/**", "venv/**", "setup.py"}},
	{why: "programs load what lies there as code", asSource: true, patterns: []string{"node_modules/**"}},

	// What runs on a push, a deployment or a request.
	{why: "GitHub runs it on a push, a pull request or by the clock", asSource: true, patterns: []string{
		".github/workflows/**", ".github/actions/**", ".github/dependabot.yml", ".github/dependabot.yaml", "action.yml", "action.yaml"}},
	{why: "it decides who must review a change", asSource: true, patterns: []string{"CODEOWNERS"}},
	{why: "the build service runs it on a push", asSource: true, patterns: []string{
		".gitlab-ci.yml", ".gitlab-ci.yaml", ".gitlab/ci/**", ".circleci/**", ".travis.yml", "Jenkinsfile", "Jenkinsfile.*", "azure-pipelines.yml",
		"azure-pipelines.yaml", ".azure-pipelines/**", ".azuredevops/**", "bitbucket-pipelines.yml", ".drone.yml", ".drone.star", ".woodpecker.yml",
		".woodpecker.yaml", ".woodpecker/**", ".buildkite/**", ".semaphore/**", ".appveyor.yml", "appveyor.yml", ".cirrus.yml", ".cirrus.star",
		"cloudbuild.yaml", "cloudbuild.yml", "buildspec.yml", "buildspec.yaml", ".forgejo/workflows/**", ".gitea/workflows/**", ".builds/**", ".build.yml",
		".teamcity/**", ".tekton/**", ".earthly/**", ".ci/**", "bamboo-specs/**", "wercker.yml", "codefresh.yml", ".codefresh/**",
		"netlify.toml", "vercel.json", "render.yaml", ".ebextensions/**", ".platform/**", "renovate.json", "renovate.json5",
		".renovaterc*"}},
	{why: "the web server obeys it on each request", asSource: true, patterns: []string{".htaccess", ".user.ini", "web.config"}},
}

// Guarded returns the first row of the table that path falls under. The path is relative with slashes; one of user scope
// needs the folder before it, and [Set.Guarded] puts it there.
func Guarded(path string) (Guard, bool) {
	folded := fold.Path(path)
	if strings.HasPrefix(folded, ".git/") || strings.Contains(folded, "/.git/") {
		return Guard{}, false
	}
	return guardTable().find(folded, inSkill(folded))
}

var guardTable = sync.OnceValue(func() *table { return newTable(guards) })

// inSkill reports whether a folded path lies within the folder of a skill: beneath "skills" in a folder whose name begins with
// a dot, or in one of ".config".
func inSkill(folded string) bool {
	all := strings.Split(folded, "/")
	for i := 1; i+2 < len(all); i++ { // a skill's own folder lies between
		if all[i] == "skills" && (strings.HasPrefix(all[i-1], ".") || i > 1 && all[i-2] == ".config") {
			return true
		}
	}
	return false
}
