// Checks the types of our own modules: `npm ci --ignore-scripts && node check.mjs`.
//
// tsc would infer the types of the minified vendored files. So it reads a copy of the page, in which
// the declarations in types/ stand in their place.

import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const page = join(here, "../src/vault_agent/web");
const copy = join(here, "node_modules/.check");

rmSync(copy, { recursive: true, force: true });
mkdirSync(copy, { recursive: true });
cpSync(join(page, "app"), join(copy, "app"), { recursive: true });
cpSync(join(here, "types"), join(copy, "vendor"), { recursive: true });
cpSync(join(here, "tsconfig.json"), join(copy, "tsconfig.json"));
const { status } = spawnSync(
  process.execPath,
  [join(here, "node_modules/typescript/bin/tsc"), "-p", join(copy, "tsconfig.json")],
  {
    stdio: "inherit",
  },
);
process.exit(status ?? 1);
