/** A schema from any library that implements Standard Schema; `jsonSchema` is the Standard JSON Schema extension. */
export interface StandardSchema<In = unknown, Out = In> {
  /** What the library implements: see standardschema.dev. */
  readonly '~standard': {
    /** The version of Standard Schema. */
    readonly version: 1
    /** The name of the library, such as `zod`. */
    readonly vendor: string
    /** Checks a value and converts it. */
    readonly validate: (value: unknown) => StandardResult<Out> | Promise<StandardResult<Out>>
    /** Carries the types: `input` is what callers send, `output` what the schema returns for it. It has no value at run time. */
    readonly types?: { readonly input: In; readonly output: Out } | undefined
    /** The schema as JSON Schema, which definitions need, because clients see it. */
    readonly jsonSchema?: StandardJson | undefined
  }
}

/** The result of a Standard Schema: the value as the schema returns it, or the issues. */
export type StandardResult<Out> =
  | {
      /** The value as the schema returns it. */
      readonly value: Out
      /** Absent if the value is valid. */
      readonly issues?: undefined
    }
  | {
      /** Everything that is wrong with the value. */
      readonly issues: readonly StandardIssue[]
    }

/** One thing that is wrong with a value. */
export interface StandardIssue {
  /** Says what is wrong, in words for people. */
  readonly message: string
  /** The keys that lead to the wrong part, each bare or as `key`; absent if it is the whole value. */
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined
}

/** Both sides of a schema as JSON Schema: the input that callers send, and the output. */
export interface StandardJson {
  /** The JSON Schema of what callers send, in the dialect `target`. */
  input(options: { readonly target: 'draft-2020-12' }): Record<string, unknown>
  /** The JSON Schema of what the schema returns, in the dialect `target`. */
  output(options: { readonly target: 'draft-2020-12' }): Record<string, unknown>
}

/** A raw JSON Schema object. With `as const`, its TypeScript type can be inferred. */
export interface JsonSchema {
  /** The type of the value, such as `object` or `['string', 'null']`. Default: any type. */
  readonly type?: string | readonly string[] | undefined
  /** A short name for people. */
  readonly title?: string | undefined
  /** Tells the model what the value means. */
  readonly description?: string | undefined
  /** The schemas of an object's properties, by name. */
  readonly properties?: { readonly [name: string]: JsonSchema | boolean } | undefined
  /** The properties that must be present. Default: none. */
  readonly required?: readonly string[] | undefined
  /** Any other keyword of JSON Schema 2020-12. */
  readonly [keyword: string]: unknown
}

/** Any schema that a definition accepts. */
export type AnySchema = StandardSchema<unknown, unknown> | JsonSchema

/** Zod schemas also carry their types here, where the compiler can resolve one of them without the other. */
export interface Carrying {
  /** Where zod keeps the types of a schema: `input` is what callers send, `output` what the schema returns for it. */
  readonly _zod: { readonly input: unknown; readonly output: unknown }
}

/** A plain object of schemas, as some libraries take it. It is not a schema. */
type Shape = { readonly [name: string]: StandardSchema<unknown, unknown> }

/** `unknown` for a schema. For a plain object of schemas, text that the compiler shows where it was written. */
export type Advice<S> = S extends Carrying
  ? unknown
  : S extends Shape
    ? [keyof S] extends [never]
      ? unknown
      : 'this is a plain object of schemas; wrap it in an object schema: z.object({ … })'
    : unknown

/** The type that callers send. */
export type InputOf<S> = S extends Carrying
  ? S['_zod']['input']
  : S extends { readonly '~standard': { readonly types?: { readonly input: infer In } | undefined } }
    ? In
    : FromJsonSchema<S>

/** The type that the schema returns for a valid value. */
export type OutputOf<S> = S extends Carrying
  ? S['_zod']['output']
  : S extends { readonly '~standard': { readonly types?: { readonly output: infer Out } | undefined } }
    ? Out
    : FromJsonSchema<S>

/** The type that a raw JSON Schema literal describes; `unknown` if it cannot be determined. */
export type FromJsonSchema<S> = From<S, S>

type From<S, Root> = S extends { readonly const: infer Value }
  ? Value
  : S extends { readonly enum: readonly (infer Value)[] }
    ? Value
    : S extends Composed
      ? Whole<S, Root> & Composition<S, Root>
      : S extends false
        ? never
        : Whole<S, Root>

/** Schemas that refer to others, or are made of them. */
type Composed =
  | {
      /** The place of another schema, such as `#/$defs/order`. */
      readonly $ref: string
    }
  | {
      /** Schemas of which a value matches at least one. */
      readonly anyOf: readonly unknown[]
    }
  | {
      /** Schemas of which a value matches exactly one. */
      readonly oneOf: readonly unknown[]
    }
  | {
      /** Schemas that a value matches, all of them. */
      readonly allOf: readonly unknown[]
    }

type Composition<S, Root> = S extends { readonly $ref: infer Ref }
  ? FromRef<Ref, Root>
  : S extends { readonly anyOf: readonly (infer Branch)[] } | { readonly oneOf: readonly (infer Branch)[] }
    ? From<Branch, Root>
    : S extends { readonly allOf: infer Branches }
      ? All<Branches, Root>
      : unknown

type FromRef<Ref, Root> = Ref extends '#'
  ? From<Root, Root>
  : Ref extends `#/$defs/${infer Name}`
    ? Root extends { readonly $defs: { readonly [Key in Name]: infer Target } }
      ? From<Target, Root>
      : unknown
    : Ref extends `#/definitions/${infer Name}`
      ? Root extends { readonly definitions: { readonly [Key in Name]: infer Target } }
        ? From<Target, Root>
        : unknown
      : unknown

type All<Branches, Root> = Branches extends readonly [infer Branch, ...infer Rest]
  ? From<Branch, Root> & All<Rest, Root>
  : unknown

/** The type described by the schema's own keywords, without composition. */
type Whole<S, Root> = S extends { readonly type: infer Type }
  ? Typed<Type, S, Root>
  : S extends { readonly properties: unknown }
    ? ObjectOf<S, Root>
    : S extends Shape
      ? Shaped<S>
      : unknown

/** What a plain object of schemas was meant to describe, so that the compiler complains about that object only. */
type Shaped<S> = [keyof S] extends [never] ? unknown : { -readonly [Key in keyof S]: OutputOf<S[Key]> }

/** The types of JSON Schema that need nothing but their name. */
type Primitives = {
  /** Text. */
  string: string
  /** A number, with or without a fraction. */
  number: number
  /** A number without a fraction, which TypeScript cannot express. */
  integer: number
  /** `true` or `false`. */
  boolean: boolean
  /** `null`. */
  null: null
}

type Typed<Type, S, Root> = Type extends keyof Primitives
  ? Primitives[Type]
  : Type extends 'object'
    ? ObjectOf<S, Root>
    : Type extends 'array'
      ? ArrayOf<S, Root>
      : Type extends readonly (infer Each)[]
        ? Typed<Each, S, Root>
        : unknown

type ObjectOf<S, Root> = S extends { readonly properties: infer Properties }
  ? S extends { readonly required: readonly (infer Required)[] }
    ? Members<Properties, Required, Root> & Extra<S>
    : Members<Properties, never, Root> & Extra<S>
  : S extends { readonly additionalProperties: infer Rest }
    ? { [name: string]: From<Rest, Root> }
    : { [name: string]: unknown }

type Members<Properties, Required, Root> = Flat<
  {
    -readonly [Key in keyof Properties as Key extends Required ? Key : never]: From<Properties[Key], Root>
  } & {
    -readonly [Key in keyof Properties as Key extends Required ? never : Key]?: From<Properties[Key], Root>
  }
>

type Flat<T> = { [Key in keyof T]: T[Key] }

/** Additional properties can be read only if the schema mentions them. */
type Extra<S> = S extends { readonly additionalProperties: infer Rest }
  ? Rest extends false
    ? unknown
    : { [name: string]: unknown }
  : unknown

type ArrayOf<S, Root> = S extends { readonly prefixItems: infer Prefix extends readonly unknown[] }
  ? [...Tuple<Prefix, Root>, ...RestOf<S, Root>]
  : S extends { readonly items: infer Items }
    ? From<Items, Root>[]
    : unknown[]

type Tuple<Prefix extends readonly unknown[], Root> = {
  -readonly [Index in keyof Prefix]: From<Prefix[Index], Root>
}

type RestOf<S, Root> = S extends { readonly items: infer Items }
  ? Items extends false
    ? []
    : From<Items, Root>[]
  : unknown[]
