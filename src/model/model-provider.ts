// Where a model is asked: what the configuration says of one provider.

/** The API it speaks. */
export type ModelProviderType = "anthropic" | "openai" | "google" | "openai-compatible";

export interface ModelProvider {
  type: ModelProviderType;
  /** Up to and with the version, as in `http://localhost:11434/v1`. May hold `${VAR}`. */
  baseUrl?: string;
  /** May hold `${VAR}`. Default: the variable that the API's own tools read. */
  apiKey?: string;
  /** Tokens that fit into one request. */
  contextWindow?: number;
}
