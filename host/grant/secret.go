package grant

import (
	"sync"

	"github.com/lola-ext/lola/host/internal/fold"
)

// secrets lists names that look as if they held something secret. No such file is ever supplied to an extension, whatever its
// grant reads. It is about names: a secret in a file of another name is the user's to keep out of a grant.
var secrets = []row{
	{why: "it holds environment settings, often with tokens in them", patterns: []string{".env*", "*.env", ".flaskenv", "env.local"}},
	{why: "it is a private key or a store of keys", patterns: []string{
		"*.pem", "*.key", "*.p8", "*.p12", "*.pfx", "*.pkcs12", "*.jks", "*.keystore", "*.bks", "*.ppk", "*.pvk", "*.kdb", "*.kdbx", "*.agekey", "id_rsa*", "id_dsa*",
		"id_ecdsa*", "id_ed25519*", "ssh_host_*", ".ssh/**", ".gnupg/**", "secring.*", ".age/**", ".sops/**", "*.keytab", "*.ovpn", "*.mobileprovision",
		"*.keychain", "*.keychain-db", "Library/Keychains/**", ".local/share/keyrings/**", ".password-store/**", "*.wallet", "wallet.dat"}},
	{why: "it holds the passwords or tokens of a tool", patterns: []string{
		".netrc*", "_netrc", ".authinfo*", ".npmrc", ".yarnrc*", ".pypirc", ".gem/credentials", ".gemrc", ".cargo/credentials*", ".composer/auth.json", "auth.json",
		".bundle/config", "NuGet.Config", ".m2/settings*.xml", "gradle.properties", ".git-credentials", ".git/**", ".gitconfig", ".config/git/**", ".config/gh/**",
		".config/hub", ".config/glab-cli/**", ".docker/config.json", ".dockercfg", ".kube/**", "kubeconfig*", "*.kubeconfig", ".aws/**", ".azure/**",
		".config/gcloud/**", ".boto", ".s3cfg", ".oci/**", ".terraformrc", ".terraform.d/**", "terraform.tfstate*", "*.tfstate", "*.tfvars", "*.tfvars.json",
		".pgpass", "pgpass.conf", ".my.cnf", ".mylogin.cnf", ".pg_service.conf", ".htpasswd", ".htdigest", ".vault-token", ".vault_pass*", ".vault-pass*",
		"rclone.conf", ".msmtprc", ".fetchmailrc", ".smbcredentials", ".cifs", ".rhosts", "wp-config.php", ".config/op/**", ".databrickscfg", ".snowsql/**",
		".kaggle/**", ".huggingface/**", ".cache/huggingface/token", ".streamlit/secrets.toml", ".heroku/**", ".fly/**", ".circleci/cli.yml"}},
	{why: "its name says that it holds credentials", patterns: []string{
		"credentials", ".credentials*", "credentials.*", "credentials*.json", "*credentials.json", "*_credentials.*", "*-credentials.*", "client_secret*.json",
		"service-account*.json", "service_account*.json", "serviceAccount*.json", "secrets", "secret", ".secret*", "secrets.*", "secret.*", "*.secret", "*.secrets",
		"*_secret.*", "*-secret.*", "*_secrets.*", "*-secrets.*", "secrets/**", "*.token", "*_token", "*-token", "tokens.json", "token.json", "oauth_creds.json",
		"passwords.*", "password.*", "passwd", "shadow"}},
	{why: "it holds the tokens of an assistant, or those that it hands to MCP servers", patterns: []string{
		".mcp.json", ".*/mcp.json", ".*/mcp_config.json", ".*/mcp-config.json", ".*/mcp_settings.json", ".claude.json", ".claude/settings*.json",
		".gemini/settings.json", ".codex/*.toml", ".copilot/**", "opencode.json", "opencode.jsonc", ".opencode.json", ".local/share/opencode/**",
		".continue/config.*"}},
	{why: "it records what was typed", patterns: []string{".*_history", ".histfile", ".zhistory", ".lesshst", ".viminfo"}},
}

// Secret reports whether a file of this path looks as if it held something secret, and why. Letter case and normalisation do
// not count; the path is as [Guarded] takes it.
func Secret(path string) (Guard, bool) { return secretTable().find(fold.Path(path), false) }

var secretTable = sync.OnceValue(func() *table { return newTable(secrets) })
