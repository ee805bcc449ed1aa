// What is bundled by somebody who only tells errors apart.

import { PlugboardError } from "../../dist/index.js";

process.stdout.write(`${new PlugboardError("TIMEOUT", "too late").code}\n`);
