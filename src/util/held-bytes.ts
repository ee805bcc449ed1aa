// The bytes of something that comes in pieces and is not whole yet: a line, a body. The first chunk and large ones are kept as
// they are, or copied if they are borrowed; other small ones are packed into blocks. A plain list of chunks would cost an object
// per byte in the worst case, and one growing buffer would copy everything at each growth.

const BLOCK_BYTES = 64 * 1024;
/** A chunk of at least this size gets an entry of its own. */
const LARGE = 16 * 1024;

export class HeldBytes {
  readonly #areBorrowed: boolean;
  #pieces: Buffer[] = [];
  #length = 0;
  #block: Buffer | undefined;
  /** How much of the block is in `#pieces` already, and how much is used. */
  #sealed = 0;
  #used = 0;

  /** Whoever pushes borrowed chunks overwrites each of them afterwards. */
  constructor({ areBorrowed = false } = {}) {
    this.#areBorrowed = areBorrowed;
  }

  get length(): number {
    return this.#length;
  }

  push(bytes: Buffer): void {
    // Most comes in one chunk, for which no block is made.
    const isFirst = this.#length === 0 && !this.#areBorrowed;
    this.#length += bytes.length;
    if (isFirst || bytes.length >= LARGE) {
      this.#seal();
      this.#pieces.push(this.#areBorrowed ? Buffer.from(bytes) : bytes);
      return;
    }
    let rest = bytes;
    while (rest.length > 0) {
      this.#block ??= Buffer.allocUnsafeSlow(BLOCK_BYTES);
      const copied = rest.copy(this.#block, this.#used);
      this.#used += copied;
      rest = rest.subarray(copied);
      if (this.#used === BLOCK_BYTES) this.#newBlock();
    }
  }

  /** The beginning as text. */
  peek(bytes: number): string {
    this.#seal();
    return Buffer.concat(this.#pieces.slice(0, 8), Math.min(bytes, this.#length)).toString("utf8");
  }

  /** Returns everything as text, and holds nothing afterwards. */
  take(): string {
    this.#seal();
    const [first, ...more] = this.#pieces;
    const text =
      first === undefined
        ? ""
        : (more.length === 0 ? first : Buffer.concat(this.#pieces, this.#length)).toString("utf8");
    this.drop();
    return text;
  }

  /** The same as bytes, which are a copy: the block is written again. */
  takeBytes(): Buffer {
    this.#seal();
    const bytes = Buffer.concat(this.#pieces, this.#length);
    this.drop();
    return bytes;
  }

  /** The same in pieces, none of which is copied. */
  takePieces(): Buffer[] {
    this.#seal();
    const pieces = this.#pieces;
    this.#block = undefined;
    this.drop();
    return pieces;
  }

  drop(): void {
    this.#pieces = [];
    this.#length = 0;
    // Nothing refers to the block any more, so it is written from its start again.
    this.#used = 0;
    this.#sealed = 0;
  }

  #seal(): void {
    if (this.#block === undefined || this.#used === this.#sealed) return;
    this.#pieces.push(this.#block.subarray(this.#sealed, this.#used));
    this.#sealed = this.#used;
  }

  #newBlock(): void {
    this.#seal();
    this.#block = undefined;
    this.#used = 0;
    this.#sealed = 0;
  }
}
