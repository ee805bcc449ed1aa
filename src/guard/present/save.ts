// Saves what a model is not shown, and says so in the host's words.

import type { ContentBlock } from "../../model/content.ts";
import { byteSize, oneLine } from "../../util/text.ts";
import type { SpillDirectory, Spilled } from "../spill.ts";
import { type CutText, type Fitted, type OversizedMedia, wholeText } from "./fit.ts";

const MEDIA_TYPE = /^[a-z]+\/[a-z0-9.+-]{1,64}$/;

/** One note for everything that is missing; undefined at once where nothing is. */
export function saveRest(
  content: readonly ContentBlock[],
  { cut, media }: Fitted,
  name: string,
  spill: Pick<SpillDirectory, "write"> | undefined,
): string | undefined | Promise<string> {
  if (cut === undefined && media.length === 0) return undefined;
  const write = (
    extension: string,
    data: () => string | Uint8Array,
  ): Promise<Spilled | undefined> =>
    spill === undefined ? Promise.resolve(undefined) : spill.write(name, extension, data());
  const notes = media.map(async (each) => {
    const saved = await write(extensionOf(each), () => Buffer.from(each.data, "base64"));
    return mediaNote(each, saved);
  });
  if (cut !== undefined) {
    notes.push(write("txt", () => wholeText(content)).then((saved) => cutNote(cut, saved)));
  }
  return Promise.all(notes).then((lines) => lines.join("\n"));
}

function mediaNote(media: OversizedMedia, saved: Spilled | undefined): string {
  const what = `${typeOf(media)}, ${byteSize(media.bytes)}`;
  if (saved === undefined) return `[${what}: too large, left out]`;
  if (saved.kind === "saved") return `[${what}: saved to ${saved.path}]`;
  return `[${what}: too large, and could not be saved (${oneLine(saved.reason, 100)})]`;
}

function cutNote({ shownBytes, totalBytes }: CutText, saved: Spilled | undefined): string {
  const what = `cut: ${byteSize(shownBytes)} of ${byteSize(totalBytes)} of text are shown`;
  if (saved === undefined) return `[${what}, the rest was left out]`;
  if (saved.kind === "saved") return `[${what}, the whole text is in ${saved.path}]`;
  return `[${what}, the rest could not be saved (${oneLine(saved.reason, 100)})]`;
}

/** The server's word for it only where it is one: the note stands outside the frame. */
function typeOf({ mimeType }: OversizedMedia): string {
  const type = (mimeType.slice(0, 200).toLowerCase().split(";")[0] ?? "").trim();
  return MEDIA_TYPE.test(type) ? type : "application/octet-stream";
}

function extensionOf(media: OversizedMedia): string {
  return /\/(?:x-)?([a-z0-9]{1,8})$/.exec(typeOf(media))?.[1] ?? "bin";
}
