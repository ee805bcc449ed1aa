import { openBoard } from "./gateway-plugboard.mjs";

export function open(command, args) {
  return openBoard(command, args, { isModern: true });
}
