// The environment variables that make a program run code which its command line does not show. Whoever reads a command
// before they agree to it would not see that code, so a definition from somebody else may not set them.

import { delimiter, isAbsolute } from "node:path";

interface CodeVariable {
  /** In upper case. A `*` at the end stands for any text. */
  names: readonly string[];
  /** Those that begin like one of the names and run nothing. */
  but?: readonly string[];
  /** Completes a sentence that begins with the variable. */
  reason: string;
}

const CODE_VARIABLES: readonly CodeVariable[] = [
  {
    names: [
      "LD_*",
      "DYLD_*",
      "GCONV_PATH",
      "OPENSSL_*",
      "GIO_*",
      "GTK_MODULES",
      "GTK_PATH",
      "GTK3_MODULES",
      "GTK_IM_MODULE_FILE",
      "GDK_PIXBUF_MODULE*",
      "QT_PLUGIN_PATH",
      "QT_QPA_PLATFORM_PLUGIN_PATH",
      "QML_IMPORT_PATH",
      "QML2_IMPORT_PATH",
      "GST_PLUGIN_*",
      "LIBGL_DRIVERS_PATH",
      "LIBVA_DRIVERS_PATH",
      "VK_*",
      "OCL_ICD_*",
      "GBM_BACKENDS_PATH",
      "OMP_TOOL_LIBRARIES",
      "CUDA_INJECTION*",
      "HDF5_PLUGIN_PATH",
      "GDAL_DRIVER_PATH",
      "GDAL_PYTHON_DRIVER_PATH",
      "GDAL_VRT_ENABLE_PYTHON",
      "GI_TYPELIB_PATH",
      "ALSA_CONFIG_*",
      "ALSA_PLUGIN_DIR",
      "SASL_PATH",
      "SASL_CONF_PATH",
      "GSS_MECH_CONFIG",
      "QTWEBENGINEPROCESS_PATH",
      "QTWEBENGINE_CHROMIUM_FLAGS",
      "CHROME_DEVEL_SANDBOX",
    ],
    // LaunchDarkly's.
    but: ["LD_API_KEY", "LD_ACCESS_TOKEN", "LD_SDK_KEY", "LD_PROJECT_KEY", "LD_ENVIRONMENT_KEY"],
    reason: "loads libraries into every program",
  },
  {
    names: [
      "NODE_OPTIONS",
      "NODE_PATH",
      "NODE_REPL_EXTERNAL_MODULE",
      "NODE_COMPILE_CACHE",
      "TS_NODE_*",
      "TSX_*",
      "ESBUILD_BINARY_PATH",
      "NAPI_RS_NATIVE_LIBRARY_PATH",
      "PRISMA_QUERY_ENGINE_*",
      "PRISMA_SCHEMA_ENGINE_*",
      "PRISMA_MIGRATION_ENGINE_*",
      "PRISMA_INTROSPECTION_ENGINE_*",
      "PRISMA_FMT_*",
      "PRISMA_ENGINES_*",
      "PRISMA_BINARIES_MIRROR",
      "TURBO_BINARY_PATH",
      "CYPRESS_RUN_BINARY",
      "CYPRESS_INSTALL_BINARY",
      "PUPPETEER_DOWNLOAD_*",
      "PLAYWRIGHT_DOWNLOAD_HOST",
      "PLAYWRIGHT_CHROMIUM_DOWNLOAD_HOST",
      "NODE_CONFIG_DIR",
      "JITI_*",
      "NPM_EXECPATH",
      "NPM_NODE_EXECPATH",
      "ELECTRON_OVERRIDE_DIST_PATH",
      "DENO_*",
      "JSR_URL",
    ],
    // Tokens, and what says less.
    but: [
      "DENO_AUTH_TOKENS",
      "DENO_DEPLOY_TOKEN",
      "DENO_KV_ACCESS_TOKEN",
      "DENO_NO_PROMPT",
      "DENO_NO_UPDATE_CHECK",
    ],
    reason: "loads modules into every program of Node.js or Deno",
  },
  {
    names: [
      "PYTHONPATH",
      "PYTHONHOME",
      "PYTHONSTARTUP",
      "PYTHONUSERBASE",
      "PYTHONPLATLIBDIR",
      "PYTHONEXECUTABLE",
      "PYTHONPYCACHEPREFIX",
      "PYTHONWARNINGS",
      "PYTHONBREAKPOINT",
      "PYTHON_PRESITE",
      "__PYVENV_LAUNCHER__",
      "COVERAGE_PROCESS_START",
      "PYTEST_PLUGINS",
      "PYTEST_ADDOPTS",
      "GUNICORN_CMD_ARGS",
      "PIPENV_*",
      "POETRY_*",
      "PDM_*",
      "HATCH_*",
      "CONDARC",
      "CONDA_EXE",
      "MAMBARC",
      "MAMBA_EXE",
      "PIXI_*",
      "IPYTHONDIR",
      "JUPYTER_CONFIG_*",
      "JUPYTER_PATH",
      "JUPYTER_DATA_DIR",
      "PEX_*",
      "SHIV_*",
    ],
    reason: "loads modules into every program of Python",
  },
  {
    names: [
      "BASH_ENV",
      "ENV",
      "BASH_FUNC_*",
      "SHELLOPTS",
      "BASHOPTS",
      "PS4",
      "PROMPT_COMMAND",
      "ZDOTDIR",
      "FPATH",
      "FISH_FUNCTION_PATH",
      "XONSHRC",
      "PSMODULEPATH",
      // Scripts that whoever chooses a version of a language runs.
      "PYENV_HOOK_PATH",
      "RBENV_HOOK_PATH",
      "NODENV_HOOK_PATH",
    ],
    reason: "is run by every shell",
  },
  {
    names: ["PERL5OPT", "PERL5LIB", "PERLLIB", "PERL5DB", "PERL5SHELL", "PERLIO", "PERLDB_OPTS"],
    reason: "loads modules into every program of Perl",
  },
  {
    names: [
      "RUBYOPT",
      "RUBYLIB",
      "RUBYSHELL",
      "RUBYGEMS_GEMDEPS",
      "GEM_HOME",
      "GEM_PATH",
      "GEM_SPEC_CACHE",
      "GEMRC",
      "BUNDLE_*",
      "BUNDLER_*",
    ],
    // Names an application to Apple's tools.
    but: ["BUNDLE_ID"],
    reason: "loads code into every program of Ruby",
  },
  {
    names: [
      "JAVA_TOOL_OPTIONS",
      "JDK_JAVA_OPTIONS",
      "_JAVA_OPTIONS",
      "JAVA_OPTS",
      "IBM_JAVA_OPTIONS",
      "OPENJ9_JAVA_OPTIONS",
      "CLASSPATH",
      "MAVEN_OPTS",
      "MAVEN_ARGS",
      "GRADLE_OPTS",
      "JBANG_*",
      "JDK_JAVAC_OPTIONS",
      "JVM_OPTS",
      "SBT_OPTS",
      "ANT_OPTS",
      "ANT_ARGS",
      "JRUBY_OPTS",
      "CATALINA_OPTS",
      "LOADER_PATH",
      "GRADLE_USER_HOME",
      "COURSIER_*",
    ],
    reason: "loads agents and classes into every program of Java",
  },
  {
    names: [
      // The runtime's settings name libraries: DOTNET_GCName, DOTNET_JitPath.
      "DOTNET_*",
      "COMPLUS_*",
      "ASPNETCORE_HOSTINGSTARTUP*",
      "MSBUILD*",
      "DIRECTORYBUILD*",
      "CUSTOMBEFORE*",
      "CUSTOMAFTER*",
      "CORECLR_*",
      "COR_*",
    ],
    but: [
      "DOTNET_ENVIRONMENT",
      "DOTNET_NOLOGO",
      "DOTNET_CLI_TELEMETRY_OPTOUT",
      "DOTNET_CLI_UI_LANGUAGE",
      "DOTNET_SKIP_FIRST_TIME_EXPERIENCE",
      "DOTNET_SYSTEM_GLOBALIZATION_INVARIANT",
      "DOTNET_RUNNING_IN_CONTAINER",
      "DOTNET_ROLL_FORWARD",
      "DOTNET_GCSERVER",
      "DOTNET_GCHEAPHARDLIMIT",
      "DOTNET_TIEREDPGO",
    ],
    reason: "loads code into every program of .NET",
  },
  {
    // A debugger, which its client has run anything, is where XDEBUG_CONFIG says.
    names: [
      "PHPRC",
      "PHP_INI_SCAN_DIR",
      "XDEBUG_*",
      "COMPOSER",
      "COMPOSER_HOME",
      "COMPOSER_VENDOR_DIR",
    ],
    reason: "chooses settings of PHP, which can load code",
  },
  { names: ["LUA_INIT*", "LUA_PATH*", "LUA_CPATH*"], reason: "is run by every program of Lua" },
  {
    names: [
      "R_PROFILE*",
      "R_ENVIRON*",
      "R_LIBS*",
      "JULIA_LOAD_PATH",
      "JULIA_DEPOT_PATH",
      "R_HOME",
      "JULIA_PROJECT",
      "JULIA_BINDIR",
      "JULIA_PKG_SERVER",
    ],
    reason: "loads code into every program of R or Julia",
  },
  {
    names: [
      "ERL_FLAGS",
      "ERL_AFLAGS",
      "ERL_ZFLAGS",
      "ERL_LIBS",
      "ELIXIR_ERL_OPTIONS",
      "ERL_OTP*",
      "ESCRIPT_EMULATOR",
      "MIX_EXS",
      "MIX_HOME",
      "MIX_ARCHIVES",
      "MIX_INSTALL_DIR",
      "HEX_HOME",
      "HEX_MIRROR*",
    ],
    reason: "loads code into every program of Erlang or Elixir",
  },
  {
    names: [
      "MONO_*",
      "DART_VM_OPTIONS",
      "PUB_HOSTED_URL",
      "PUB_CACHE",
      "FLUTTER_STORAGE_BASE_URL",
      "TCLLIBPATH",
      "TCL_LIBRARY",
      "TK_LIBRARY",
      "GUILE_LOAD_*",
      "PLTCOLLECTS",
      "PLTADDONDIR",
      "SBCL_HOME",
      "CL_SOURCE_REGISTRY",
      "CAML_LD_LIBRARY_PATH",
      "EMACSLOADPATH",
    ],
    reason: "loads code into every program of Mono, Dart, Tcl, Lisp, OCaml or Emacs",
  },
  {
    names: [
      "GOFLAGS",
      "GOENV",
      "GOTOOLCHAIN",
      "GOROOT",
      "GOPROXY",
      "GOAUTH",
      "GOCACHE*",
      "GOMODCACHE",
      "GOWORK",
      "GOSUMDB",
      "GONOSUMDB",
      "GONOSUMCHECK",
      "GOINSECURE",
      "CGO_*",
      "RUSTC*",
      "RUSTDOC*",
      "RUSTFLAGS",
      "RUSTUP_*",
      "CARGO_*",
      "MAKEFLAGS",
      "MAKEFILES",
      "GNUMAKEFLAGS",
      "CMAKE_*",
      "COMPILER_PATH",
      "GCC_EXEC_PREFIX",
      "CFLAGS",
      "CPPFLAGS",
      "CXXFLAGS",
      "LDFLAGS",
      "PKG_CONFIG*",
      "CCACHE_*",
    ],
    reason: "decides what Go, Cargo, make, cmake and compilers build and run",
  },
  {
    names: [
      "GIT_SSH*",
      "GIT_PROXY_COMMAND",
      "GIT_EXTERNAL_DIFF",
      "GIT_CONFIG*",
      "GIT_EXEC_PATH",
      "GIT_TEMPLATE_DIR",
      "GIT_DIR",
      "GIT_COMMON_DIR",
      "GIT_ALLOW_PROTOCOL",
      "HGRCPATH",
      "GH_CONFIG_DIR",
      "SVN_SSH",
      "RSYNC_RSH",
      "SSH_SK_*",
      "SSH_PKCS11_HELPER",
    ],
    reason: "names a program that git or the like runs, or settings that do",
  },
  {
    names: ["DOCKER_CONFIG", "BUILDX_CONFIG", "REGISTRY_AUTH_FILE", "CONTAINERS_*"],
    reason: "chooses settings of docker or podman, which name programs that they run",
  },
  {
    names: [
      "CLOUDSDK_PYTHON*",
      "CLOUDSDK_ROOT_DIR",
      "GOOGLE_EXTERNAL_ACCOUNT_ALLOW_EXECUTABLES",
      "AZURE_EXTENSION_*",
      "BOTO_CONFIG",
      "BOTO_PATH",
      "KUBERC",
      "TF_CLI_*",
      "TF_PLUGIN_*",
      "TF_DATA_DIR",
      "TG_TF_PATH",
      "PACKER_PLUGIN_PATH",
      "PACKER_CONFIG",
      "VAULT_CONFIG_PATH",
      "HELM_PLUGINS",
      "HELM_DATA_HOME",
      "HELM_CONFIG_HOME",
      "ANSIBLE_CONFIG",
      "ANSIBLE_HOME",
      "ANSIBLE_LIBRARY",
      "ANSIBLE_MODULE_UTILS",
      "ANSIBLE_ROLES_PATH",
      "ANSIBLE_COLLECTIONS_PATH*",
      "ANSIBLE_ACTION_PLUGINS",
      "ANSIBLE_CALLBACK_PLUGINS",
      "ANSIBLE_CONNECTION_PLUGINS",
      "ANSIBLE_FILTER_PLUGINS",
      "ANSIBLE_INVENTORY*",
      "ANSIBLE_LOOKUP_PLUGINS",
      "ANSIBLE_STRATEGY_PLUGINS",
      "ANSIBLE_TEST_PLUGINS",
      "ANSIBLE_VARS_PLUGINS",
      "ANSIBLE_SSH_*",
      "ANSIBLE_BECOME_*",
      "ANSIBLE_VAULT_PASSWORD_FILE",
      "RESTIC_PASSWORD_COMMAND",
      "RCLONE_PASSWORD_COMMAND",
      "BORG_RSH",
      "BORG_PASSCOMMAND",
      "PASSWORD_STORE_EXTENSIONS_DIR",
      "PASSWORD_STORE_ENABLE_EXTENSIONS",
      "DIRENV_*",
      "SQLCMDINI",
      "SQLPATH",
      "ORACLE_PATH",
      "NIX_*",
      "MISE_*",
      "PSQLRC",
      "WGETRC",
      "MAGICK_C*",
      "MAGICK_HOME",
      "MAGICK_FILTER_MODULE_PATH",
      "GS_LIB",
      "GS_OPTIONS",
      "TEXMF*",
      "LESSKEY*",
      "VIMINIT",
      "EXINIT",
      "LIBMYSQL_PLUGIN*",
      "TAR_OPTIONS",
      "ZIPOPT",
      "RSYNC_CONNECT_PROG",
      "CVS_RSH",
      "RIPGREP_CONFIG_PATH",
      "FZF_DEFAULT_*",
      "AWKPATH",
      "AWKLIBPATH",
    ],
    reason: "names programs, or settings that do, for a tool that servers often run",
  },
  {
    // Each of their options is a variable: `call` runs a command, `package` another package, `cache` what lies there. So only
    // what is known to be harmless may be set.
    names: ["NPM_CONFIG_*", "PNPM_CONFIG_*", "YARN_*", "COREPACK_*", "BUN_*"],
    but: [
      "NPM_CONFIG_YES",
      "NPM_CONFIG_LOGLEVEL",
      "NPM_CONFIG_UPDATE_NOTIFIER",
      "NPM_CONFIG_FUND",
      "NPM_CONFIG_AUDIT",
      "NPM_CONFIG_PROGRESS",
      "NPM_CONFIG_COLOR",
      "NPM_CONFIG_OFFLINE",
      "NPM_CONFIG_PREFER_OFFLINE",
      "NPM_CONFIG_FETCH_TIMEOUT",
      "NPM_CONFIG_FETCH_RETRIES",
    ],
    reason: "decides what npm, pnpm, Yarn or Bun get and run, and with what",
  },
  {
    names: ["UV_*", "PIP_*", "PIPX_*"],
    but: [
      // These two are of Node.js.
      "UV_THREADPOOL_SIZE",
      "UV_USE_IO_URING",
      "UV_NO_PROGRESS",
      "UV_HTTP_TIMEOUT",
      "UV_OFFLINE",
      "UV_LINK_MODE",
      "UV_NATIVE_TLS",
      "PIP_DISABLE_PIP_VERSION_CHECK",
      "PIP_NO_INPUT",
      "PIP_QUIET",
      "PIP_TIMEOUT",
      "PIP_DEFAULT_TIMEOUT",
    ],
    reason: "decides what uv or pip get and run, and with what",
  },
  {
    names: ["HOMEBREW_*"],
    but: [
      "HOMEBREW_PREFIX",
      "HOMEBREW_NO_AUTO_UPDATE",
      "HOMEBREW_NO_ANALYTICS",
      "HOMEBREW_NO_ENV_HINTS",
      "HOMEBREW_GITHUB_API_TOKEN",
    ],
    reason: "decides what Homebrew gets and runs, and with what",
  },
  { names: ["NUGET_*"], reason: "decides what .NET gets and runs" },
];

/** Name a program that others run. The plain name of one that you have, such as `cat`, may be there. */
const PROGRAMS: ReadonlySet<string> = new Set([
  "EDITOR",
  "VISUAL",
  "PAGER",
  "MANPAGER",
  "LESSOPEN",
  "LESSCLOSE",
  "BROWSER",
  "GIT_ASKPASS",
  "GIT_EDITOR",
  "GIT_SEQUENCE_EDITOR",
  "GIT_PAGER",
  "GH_BROWSER",
  "GH_EDITOR",
  "GH_PAGER",
  "AWS_PAGER",
  "PSQL_PAGER",
  "PSQL_EDITOR",
  "SYSTEMD_PAGER",
  "SYSTEMD_EDITOR",
  "KUBE_EDITOR",
  "KUBECTL_EXTERNAL_DIFF",
  "SUDO_EDITOR",
  "JAVACMD",
  "CC",
  "CXX",
  "NODE_GYP_FORCE_PYTHON",
  "SSH_ASKPASS",
  "SUDO_ASKPASS",
]);
const PROGRAM_REASON = "names a program that other programs run";
const PLAIN_PROGRAM = /^[\w.+-]*$/;

/**
 * Directories in which programs look for others, and for settings that name others. Refused from a registry and a bundle.
 * Files of other applications and sessions of editors often set them: what a desktop starts does not have the shell's, and
 * their servers would not start without it.
 */
const SEARCHED: readonly string[] = [
  "PATH",
  "HOME",
  "USERPROFILE",
  "APPDATA",
  "LOCALAPPDATA",
  "XDG_CONFIG_HOME",
  "XDG_CONFIG_DIRS",
  "XDG_DATA_HOME",
  "XDG_DATA_DIRS",
  // Where uv, pip and Deno have the code that they got.
  "XDG_CACHE_HOME",
  "GOPATH",
  "SYSTEMROOT",
  "WINDIR",
  "GNUPGHOME",
  "AWS_CONFIG_FILE",
  "AWS_SHARED_CREDENTIALS_FILE",
  "CLOUDSDK_CONFIG",
  "AZURE_CONFIG_DIR",
  "ODBCSYSINI",
  "ODBCINSTINI",
  "SHELL",
  "COMSPEC",
  // Where those who choose a version of a language find its programs.
  "PYENV_ROOT",
  "RBENV_ROOT",
  "NODENV_ROOT",
  "VOLTA_HOME",
  "NVM_DIR",
  "ASDF_DIR",
  "ASDF_DATA_DIR",
  "VIRTUAL_ENV",
  "CONDA_PREFIX",
];
const SEARCHED_REASON = "chooses which programs and settings are used, whatever the command names";
/** What is in the directory of a project, or of a server, would run in place of your programs. */
const SEARCHED_RELATIVE_REASON =
  "has a directory that is not absolute, or of the workspace, whose programs would run in place of yours";
/**
 * With a proxy beside them, whoever wrote these certificates answers for npm, and gives another program than the command
 * names. A publisher may ask you for them: many servers are of a network with an authority of its own.
 */
const CERTIFICATES: readonly string[] = [
  "NODE_EXTRA_CA_CERTS",
  "SSL_CERT_FILE",
  "SSL_CERT_DIR",
  "NIX_SSL_CERT_FILE",
  "REQUESTS_CA_BUNDLE",
  "CURL_CA_BUNDLE",
  "GIT_SSL_CAINFO",
  "GIT_SSL_CAPATH",
];
const CERTIFICATE_REASON =
  "has certificates from a place that is not absolute, or of the workspace, which decide where programs come from";
/**
 * Programs that are run by their path, directories of such programs, and settings that name some: the users of a kubeconfig run
 * programs to log in. A publisher may ask you for them.
 */
const PROGRAM_PATHS: readonly string[] = [
  "KUBECONFIG",
  "KRB5_CONFIG",
  "JAVA_HOME",
  "MAVEN_HOME",
  "M2_HOME",
  "GRADLE_HOME",
  "ANDROID_HOME",
  "ANDROID_SDK_ROOT",
  "DEVELOPER_DIR",
  "FLUTTER_ROOT",
  "PNPM_HOME",
  "CHROME_PATH",
  "CHROME_BIN",
  "PUPPETEER_EXECUTABLE_PATH",
  "PUPPETEER_CACHE_DIR",
  "PLAYWRIGHT_CHROMIUM_EXECUTABLE_PATH",
  "PLAYWRIGHT_MCP_EXECUTABLE_PATH",
  "PLAYWRIGHT_MCP_CONFIG",
];
const PROGRAM_PATH_REASON =
  "has a place that is not absolute, or is in the workspace: programs there would run, or those that settings there name";
/** Why a path of these must be absolute. */
const ABSOLUTE = new Map<string, string>([
  ...SEARCHED.map((name) => [name, SEARCHED_RELATIVE_REASON] as const),
  ...CERTIFICATES.map((name) => [name, CERTIFICATE_REASON] as const),
  ...PROGRAM_PATHS.map((name) => [name, PROGRAM_PATH_REASON] as const),
]);
/**
 * A variable, but none that stands for the directory that you work in, as editors and shells name it. One with a default can be
 * anything, so it does not count.
 */
const BEGINS_WITH_OTHER_VARIABLE =
  /^\$(?!\{?(?:workspace|(?:PWD|OLDPWD|cwd|INIT_CWD)\b))(?:\{\w+\}|\w+)/i;
/** Absolute, and still the directory that the program runs in, or on a machine of somebody else. */
const LEADS_ELSEWHERE = /^(?:\/+proc\/|\/+dev\/fd\/|[/\\]{2})/i;

/** What `ENV` says where it is no file of a shell, but the name of a deployment. */
const DEPLOYMENTS: ReadonlySet<unknown> = new Set(
  "production prod development dev staging stage test testing local".split(" "),
);
/** Old versions of bash run what follows, whatever the variable is called. */
const FUNCTION = /^\(\)\s*\{/;
const FUNCTION_REASON = "has a value that old versions of bash run";

const EXACT = new Map(
  CODE_VARIABLES.flatMap(({ names, reason }) => names.map((name) => [name, reason] as const)),
);
const BEGINNINGS = [...EXACT].flatMap(([name, reason]) =>
  name.endsWith("*") ? [[name.slice(0, -1), reason] as const] : [],
);
const HARMLESS = new Set(CODE_VARIABLES.flatMap(({ but = [] }) => but));

/**
 * Why somebody else may not set the variable, to be put after its name; undefined for any other. A publisher is whoever
 * offers a server in a registry or a bundle. An application is one whose file this is, as it is written there: some fill in
 * `$NAME`, while Plugboard takes that for the name of a directory. The case of letters does not count, as on Windows and for
 * npm, to which `-` and `_` are the same.
 */
export function codeVariableReason(
  name: string,
  value?: unknown,
  by?: "publisher" | "application",
): string | undefined {
  const folded = name.toUpperCase().replaceAll("-", "_");
  if (by === "publisher" && SEARCHED.includes(folded)) return SEARCHED_REASON;
  const whyAbsolute = ABSOLUTE.get(folded);
  if (whyAbsolute !== undefined) {
    const isBare = by === "application";
    const isRelative = typeof value === "string" && hasRelativeDirectory(value, isBare);
    return isRelative ? whyAbsolute : undefined;
  }
  if (PROGRAMS.has(folded)) {
    const isPlain = typeof value === "string" && PLAIN_PROGRAM.test(value) && by !== "publisher";
    return isPlain ? undefined : PROGRAM_REASON;
  }
  if (typeof value === "string" && FUNCTION.test(value)) return FUNCTION_REASON;
  if (HARMLESS.has(folded) || (folded === "ENV" && DEPLOYMENTS.has(value))) return undefined;
  const begun = BEGINNINGS.find(([beginning]) => folded.startsWith(beginning));
  return EXACT.get(folded) ?? begun?.[1];
}

/** An empty part stands for the directory that the program runs in, and nobody but a shell knows `~`. */
function hasRelativeDirectory(path: string, isBare: boolean): boolean {
  // The colon of `${env:NAME}` divides nothing.
  const directories = path.replaceAll("${env:", "${").split(delimiter);
  const isFilledIn = (each: string): boolean =>
    BEGINS_WITH_OTHER_VARIABLE.test(each) && (isBare || each.startsWith("${"));
  return directories.some((each) =>
    isAbsolute(each) ? LEADS_ELSEWHERE.test(each) : !isFilledIn(each),
  );
}
