// Secrets that a server needs: those that are known, and any other that somebody names. They go into the store.

import type { Signal } from "@preact/signals";
import type { VNode } from "preact";
import { useId, useRef } from "preact/hooks";
import type { AddInput } from "../../serve/gateway/page/wire.ts";
import { Foreign } from "../parts/foreign.tsx";

interface SecretFieldsProps {
  inputs: readonly AddInput[];
  /** What else can be named; without it, nothing can. */
  kind?: "variable" | "header";
  values: Signal<Record<string, string>>;
  newName: Signal<string>;
}

export function SecretFields({ inputs, kind, values, newName }: SecretFieldsProps): VNode | null {
  const id = useId();
  const named = useRef("");
  const names = [...new Set([...inputs.map(({ key }) => key), ...Object.keys(values.value)])];
  if (names.length === 0 && kind === undefined) return null;
  const set = (key: string, value: string): void => {
    values.value = { ...values.value, [key]: value };
  };
  /** Its value comes next. */
  const take = (input: HTMLInputElement | null): void => {
    if (input === null || input.id !== named.current) return;
    named.current = "";
    input.focus();
  };
  const add = (): void => {
    const name = newName.value.trim();
    if (name === "") return;
    named.current = `${id}-${name}`;
    set(name, values.value[name] ?? "");
    newName.value = "";
  };
  return (
    <fieldset>
      <legend>Secrets: stored safely, and written as references</legend>
      {names.map((key) => {
        const { description, isRequired } = inputs.find((each) => each.key === key) ?? {};
        return (
          <div class="field" key={key}>
            <label for={`${id}-${key}`}>
              <Foreign text={key} most={100} />
              {isRequired && <span class="required"> required</span>}
            </label>
            {description && (
              <small>
                <Foreign text={description} most={500} />
              </small>
            )}
            <input
              id={`${id}-${key}`}
              ref={take}
              type="password"
              autocomplete="off"
              value={values.value[key] ?? ""}
              onInput={(event) => set(key, event.currentTarget.value)}
            />
          </div>
        );
      })}
      {kind !== undefined && (
        <div class="item">
          <div class="field">
            <label for={`${id}-new`}>
              {kind === "header"
                ? "A header that it needs, such as Authorization"
                : "A variable that it needs, such as API_KEY"}
            </label>
            <input
              id={`${id}-new`}
              autocomplete="off"
              value={newName.value}
              onInput={(event) => {
                newName.value = event.currentTarget.value;
              }}
              onKeyDown={(event) => {
                if (event.key === "Enter") add();
              }}
            />
          </div>
          <button type="button" aria-disabled={newName.value.trim() === ""} onClick={add}>
            Add a secret
          </button>
        </div>
      )}
    </fieldset>
  );
}
