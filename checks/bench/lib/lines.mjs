// Lines out of a byte stream in linear time: only the new chunk is searched, and it is decoded once.

const NEWLINE = 10;

/** Returns a function that takes chunks and hands every complete line to `onLine`. */
export function lineReader(onLine) {
  let pieces = [];
  return (chunk) => {
    const end = chunk.lastIndexOf(NEWLINE);
    if (end === -1) {
      pieces.push(chunk);
      return;
    }
    let complete = chunk.subarray(0, end);
    if (pieces.length > 0) complete = Buffer.concat([...pieces, complete]);
    pieces = end + 1 < chunk.length ? [chunk.subarray(end + 1)] : [];
    for (const line of complete.toString().split("\n")) onLine(line);
  };
}
