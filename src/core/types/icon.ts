// An icon of a tool, resource or prompt, as its server offers it.

/** Load one only if you want to: `src` is an `https:` address of the server's choice, or a `data:` URI. */
export interface Icon {
  src: string;
  mimeType?: string;
  /** Such as `48x48`, or `any` for one that can have every size. */
  sizes?: string[];
  theme?: "light" | "dark";
}
