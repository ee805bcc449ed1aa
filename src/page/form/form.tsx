// A form for one JSON Schema. It holds a value and nothing else: what is left empty is left out.

import { useSignal } from "@preact/signals";
import type { VNode } from "preact";
import { useEffect, useId, useMemo } from "preact/hooks";
import { errorMessage } from "../../util/error-message.ts";
import { asText } from "../../util/text.ts";
import { visible } from "../../util/visible.ts";
import { Foreign } from "../parts/foreign.tsx";
import { deepestOf, type Field, fieldOf, isObject, type Schema } from "./field.ts";

const LONGEST_TEXT = 500;

interface FormProps {
  schema: Schema;
  root: Schema;
  value: unknown;
  /** Undefined: nothing is there. */
  onChange: (value: unknown) => void;
  name: string;
  isRequired?: boolean;
  depth?: number;
  /** How deep the whole form is drawn. */
  deepest?: number;
}

export function Form(given: FormProps): VNode {
  const { schema, root, name, isRequired = false, depth = 0 } = given;
  const deepest = useMemo(
    () => given.deepest ?? deepestOf(schema, root),
    [given.deepest, schema, root],
  );
  const props = { ...given, deepest };
  const field = fieldOf(schema, root, depth, deepest);
  const id = useId();
  if (field.kind === "object" && depth === 0) return <Members {...props} field={field} />;
  const label = (
    <>
      <Foreign text={field.title ?? name} most={100} />
      {isRequired && <span class="required"> required</span>}
    </>
  );
  const hint = field.description && (
    <small id={`${id}-hint`}>
      <Foreign text={field.description} most={500} />
    </small>
  );
  if (field.kind === "object" || field.kind === "list" || field.kind === "either") {
    return (
      <fieldset>
        <legend>{label}</legend>
        {hint}
        <Group {...props} field={field} />
      </fieldset>
    );
  }
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {hint}
      <Input {...props} field={field} id={id} isDescribed={hint !== undefined} />
    </div>
  );
}

type Of<Kind extends Field["kind"]> = Extract<Field, { kind: Kind }>;

function Members({
  field,
  root,
  value,
  onChange,
  depth = 0,
  deepest,
}: FormProps & { field: Of<"object"> }): VNode {
  const held = isObject(value) ? value : {};
  useEffect(() => {
    // A list that is required may well be empty.
    const missing = field.members.filter(
      ({ name, schema, isRequired }) =>
        isRequired && held[name] === undefined && fieldOf(schema, root).kind === "list",
    );
    if (missing.length === 0) return;
    onChange({ ...held, ...Object.fromEntries(missing.map(({ name }) => [name, []])) });
  }, []);
  const set = (name: string, next: unknown): void => {
    const { [name]: _, ...others } = held;
    onChange(next === undefined ? others : { ...others, [name]: next });
  };
  return (
    <>
      {field.members.map(({ name, schema, isRequired }) => (
        <Form
          key={name}
          name={name}
          schema={schema}
          root={root}
          isRequired={isRequired}
          value={held[name]}
          onChange={(next) => set(name, next)}
          depth={depth + 1}
          deepest={deepest}
        />
      ))}
      {field.members.length === 0 && <p class="quiet">It takes no arguments.</p>}
    </>
  );
}

function Group(props: FormProps & { field: Of<"object" | "list" | "either"> }): VNode {
  const { field } = props;
  if (field.kind === "object") return <Members {...props} field={field} />;
  return field.kind === "list" ? (
    <List {...props} field={field} />
  ) : (
    <Either {...props} field={field} />
  );
}

function List({
  field,
  root,
  value,
  onChange,
  name,
  depth = 0,
  deepest,
}: FormProps & { field: Of<"list"> }): VNode {
  const held = Array.isArray(value) ? (value as unknown[]) : [];
  return (
    <>
      {held.map((item, at) => (
        <div class="item" key={at}>
          <Form
            name={`${name} ${at + 1}`}
            schema={field.of}
            root={root}
            value={item}
            onChange={(next) => onChange(held.with(at, next ?? null))}
            depth={depth + 1}
            deepest={deepest}
          />
          <button
            type="button"
            class="plain"
            aria-label={`Remove ${name} ${at + 1}`}
            onClick={() => {
              const rest = held.toSpliced(at, 1);
              onChange(rest.length === 0 ? undefined : rest);
            }}
          >
            Remove
          </button>
        </div>
      ))}
      <button
        type="button"
        aria-label={`Add to ${name}`}
        onClick={() => onChange([...held, emptyFor(field.of, root)])}
      >
        Add
      </button>
    </>
  );
}

function Either({
  field,
  root,
  value,
  onChange,
  name,
  depth = 0,
  deepest,
}: FormProps & { field: Of<"either"> }): VNode {
  const chosen = useSignal(0);
  const form = field.forms[chosen.value];
  const id = useId();
  return (
    <>
      <div class="field">
        <label for={id}>Form</label>
        <select
          id={id}
          onChange={(event) => {
            chosen.value = event.currentTarget.selectedIndex;
            onChange(undefined);
          }}
        >
          {field.forms.map(({ title }, at) => (
            <option key={at} selected={at === chosen.value}>
              {brief(title)}
            </option>
          ))}
        </select>
      </div>
      {form && (
        <Form
          key={chosen.value}
          name={name}
          schema={form.schema}
          root={root}
          value={value}
          onChange={onChange}
          depth={depth + 1}
          deepest={deepest}
        />
      )}
    </>
  );
}

type InputProps = FormProps & {
  field: Exclude<Field, { kind: "object" | "list" | "either" }>;
  id: string;
  isDescribed: boolean;
};

function Input({ field, id, value, onChange, isRequired, isDescribed }: InputProps): VNode {
  const same = {
    id,
    "aria-describedby": isDescribed ? `${id}-hint` : undefined,
    required: isRequired,
  };
  const hinted =
    field.default === undefined ? undefined : `left out: ${brief(asText(field.default))}`;
  switch (field.kind) {
    case "yes-no":
      return (
        <select
          {...same}
          value={typeof value === "boolean" ? String(value) : ""}
          onChange={(event) => onChange(readChoice(event.currentTarget.value, [true, false]))}
        >
          <option value="">{hinted ?? "–"}</option>
          <option value="true">yes</option>
          <option value="false">no</option>
        </select>
      );
    case "choice":
      return (
        <select
          {...same}
          value={value === undefined ? "" : asText(value)}
          onChange={(event) => onChange(readChoice(event.currentTarget.value, field.values))}
        >
          <option value="">{hinted ?? "–"}</option>
          {field.values.map((each, at) => (
            <option key={asText(each)} value={asText(each)}>
              {labelOf(field.labels?.[at], each)}
            </option>
          ))}
        </select>
      );
    case "number":
      return (
        <input
          {...same}
          type="number"
          min={field.least}
          max={field.most}
          step={field.isWhole ? 1 : "any"}
          placeholder={hinted}
          value={typeof value === "number" ? value : ""}
          onInput={(event) => {
            const { valueAsNumber } = event.currentTarget;
            onChange(Number.isNaN(valueAsNumber) ? undefined : valueAsNumber);
          }}
        />
      );
    case "text": {
      const text = typeof value === "string" ? value : "";
      const take = (next: string): void => onChange(next === "" ? undefined : next);
      // Any text may have several lines, and one line of it must not lose the others.
      return (
        <textarea
          {...same}
          rows={Math.min(12, Math.max(field.isLong ? 4 : 1, text.split("\n").length))}
          placeholder={hinted}
          value={text}
          onInput={(event) => take(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key !== "Enter" || event.shiftKey || event.isComposing || field.isLong)
              return;
            event.preventDefault();
            event.currentTarget.form?.requestSubmit();
          }}
        />
      );
    }
    case "json":
      return <JsonInput id={id} value={value} onChange={onChange} />;
  }
}

/** Keeps what is typed while it is not JSON yet; its form cannot be sent until it is. */
export function JsonInput({
  id,
  value,
  onChange,
  rows = 4,
  isObjectWanted = false,
}: Pick<FormProps, "value" | "onChange"> & {
  id: string;
  rows?: number;
  isObjectWanted?: boolean;
}): VNode {
  const typed = useSignal<string | undefined>(undefined);
  const problem = useSignal<string | undefined>(undefined);
  return (
    <>
      <textarea
        id={id}
        class="json"
        rows={rows}
        spellcheck={false}
        aria-invalid={problem.value !== undefined}
        ref={(area) => area?.setCustomValidity(problem.value ?? "")}
        value={typed.value ?? (value === undefined ? "" : JSON.stringify(value, null, 2))}
        onInput={(event) => {
          const text = event.currentTarget.value;
          typed.value = text;
          try {
            const next: unknown = text.trim() === "" ? undefined : JSON.parse(text);
            problem.value =
              isObjectWanted && !isObject(next ?? {}) ? "This takes an object." : undefined;
            if (problem.value === undefined) onChange(next);
          } catch (error) {
            problem.value = `This is not JSON yet: ${errorMessage(error)}`;
          }
        }}
        onBlur={() => {
          if (problem.value === undefined) typed.value = undefined;
        }}
      />
      {problem.value && <small class="problem">{problem.value}</small>}
    </>
  );
}

/** What a value means may be said by its server, who could call one what another is: so both are shown. */
function labelOf(label: unknown, value: unknown): string {
  const own = brief(asText(value));
  return typeof label === "string" && label !== value ? `${brief(label)} (${own})` : own;
}

/** A server's words, for a label or an option, which can only hold plain text. */
function brief(text: string): string {
  return visible(text.length > LONGEST_TEXT ? `${text.slice(0, LONGEST_TEXT)}…` : text);
}

function readChoice(text: string, values: readonly unknown[]): unknown {
  return values.find((each) => asText(each) === text);
}

function emptyFor(schema: Schema, root: Schema): unknown {
  const { kind } = fieldOf(schema, root);
  if (kind === "object") return {};
  return kind === "list" ? [] : kind === "text" ? "" : null;
}
