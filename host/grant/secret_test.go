package grant

import "testing"

func TestSecret(t *testing.T) {
	for _, path := range []string{
		".env", ".env.local", ".env.example", "a/b/.ENV", "prod.env", "server.pem", "server.KEY", "id_rsa", "id_rsa.pub", "id_ed25519", "keys/id_ed25519_work", ".netrc",
		"_netrc", ".npmrc", "sub/.npmrc", ".pypirc", ".git-credentials", ".git/config", ".aws/credentials", ".aws/config", ".docker/config.json", ".kube/config",
		"x.kdbx", "a.p12", "a.pfx", "a.jks", "credentials.json", "credentials-prod.json", "my_credentials.json", "secrets.yaml", "config/secrets.yml", ".htpasswd",
		"terraform.tfstate", "terraform.tfstate.backup", "prod.tfvars", ".ssh/config", ".ssh/known_hosts", ".gnupg/x", ".bash_history", ".mcp.json", ".cursor/mcp.json",
		"client_secret_1.json", "\u017fecrets.json", ".docker/CONFIG.json", "token.json",
	} {
		if g, ok := Secret(path); !ok || g.Why == "" {
			t.Errorf("Secret(%q) = %+v, %v, want a reason", path, g, ok)
		}
	}
	for _, path := range []string{
		"", "README.md", "package.json", "src/env.go", "keyboard.go", "monkey.md", "docs/secrets-of-cooking/a.md", "tokenizer.json", "environment.yml", "main.tf",
		"CLAUDE.md", ".claude/skills/x/SKILL.md", "history.md", "id.txt", "pem.go", ".gitignore", "go.mod", "config.json", "gradle/wrapper/x",
	} {
		if g, ok := Secret(path); ok {
			t.Errorf("Secret(%q) = %+v, want nothing", path, g)
		}
	}
}

// Our part of the row P21: however reads are worded, a name that looks secret is never supplied.
func TestSecretsAreNeverSupplied_P21(t *testing.T) {
	for _, globs := range [][]string{{"**/.env"}, {"**"}, {".env"}, {"**/.*"}, {"**/[.]env", "**/*.pem", "id_rsa", ".aws/*"}} {
		s, err := Parse(Rights{Reads: append(globs, "README.md"), Capabilities: []string{"net.http"}})
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range []string{".env", "a/.env", ".ENV", ".env.local", "server.pem", "id_rsa", ".aws/credentials", ".npmrc", ".netrc"} {
			if s.MayRead(path) {
				t.Errorf("reads %q supply %q", globs, path)
			}
		}
		if !s.MayRead("README.md") || s.MayWrite("README.md") {
			t.Errorf("reads %q: README.md is not read, or may be written", globs)
		}
		if !s.LiteralURLsOnly() {
			t.Errorf("reads %q and net.http: any URL may be named", globs)
		}
	}
	s, err := Parse(Rights{Reads: []string{"**"}})
	if err != nil {
		t.Fatal(err)
	}
	if s.In(".aws").MayRead("credentials") || s.In(".x").MayRead(".env") || !s.In(".x").MayRead("a") {
		t.Error("in a folder: a secret is supplied, or nothing is")
	}
}
