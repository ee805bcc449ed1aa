// Loaded before the gateway: its wall clock is wrong by as many milliseconds as a file says, and jumps when the file changes. Nothing
// else is touched: timers and the monotonic clock go on, as on a machine whose time is set.

const { readFileSync } = require("node:fs");

const OFTEN_MS = 50;
const file = process.env.SOAK_CLOCK;
let offset = 0;

if (file !== undefined) {
  const read = () => {
    try {
      offset = Number(readFileSync(file, "utf8")) || 0;
    } catch {
      // It is being written.
    }
  };
  const RealDate = Date;
  globalThis.Date = class Date extends RealDate {
    constructor(...args) {
      super(...(args.length === 0 ? [RealDate.now() + offset] : args));
    }

    static now() {
      return RealDate.now() + offset;
    }
  };
  read();
  setInterval(read, OFTEN_MS).unref();
}
