/** A schema of any library that speaks Standard Schema; `jsonSchema` is its Standard JSON Schema extension. */
export interface StandardSchema<In = unknown, Out = In> {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    readonly validate: (value: unknown) => StandardResult<Out> | Promise<StandardResult<Out>>
    readonly types?: { readonly input: In; readonly output: Out } | undefined
    readonly jsonSchema?: StandardJson | undefined
  }
}

/** What a Standard Schema answers: the value as the schema delivers it, or what is wrong with it. */
export type StandardResult<Out> =
  | { readonly value: Out; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] }

export interface StandardIssue {
  readonly message: string
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined
}

/** Both sides of a schema as JSON Schema: what callers send, and what comes out. */
export interface StandardJson {
  input(options: { readonly target: 'draft-2020-12' }): Record<string, unknown>
  output(options: { readonly target: 'draft-2020-12' }): Record<string, unknown>
}

/** A raw JSON Schema object. Written `as const`, it also gives its TypeScript type. */
export interface JsonSchema {
  readonly type?: string | readonly string[]
  readonly title?: string
  readonly description?: string
  readonly properties?: { readonly [name: string]: JsonSchema | boolean }
  readonly required?: readonly string[]
  readonly [keyword: string]: unknown
}

/** Whatever a definition may give as a schema. */
export type AnySchema = StandardSchema<unknown, unknown> | JsonSchema

/** Zod schemas also carry their types here, where the compiler works out one of the two and not both. */
export interface Carrying {
  readonly _zod: { readonly input: unknown; readonly output: unknown }
}

/** What callers send. */
export type InputOf<S> = S extends Carrying
  ? S['_zod']['input']
  : S extends { readonly '~standard': { readonly types?: { readonly input: infer In } | undefined } }
    ? In
    : FromJsonSchema<S>

/** What the schema delivers once a value has passed. */
export type OutputOf<S> = S extends Carrying
  ? S['_zod']['output']
  : S extends { readonly '~standard': { readonly types?: { readonly output: infer Out } | undefined } }
    ? Out
    : FromJsonSchema<S>

/** The type of the values that a raw JSON Schema literal describes; `unknown` where it cannot tell. */
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

type Composed =
  | { readonly $ref: string }
  | { readonly anyOf: readonly unknown[] }
  | { readonly oneOf: readonly unknown[] }
  | { readonly allOf: readonly unknown[] }

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

/** What the keywords of the schema itself say, leaving composition aside. */
type Whole<S, Root> = S extends { readonly type: infer Type }
  ? Typed<Type, S, Root>
  : S extends { readonly properties: unknown }
    ? ObjectOf<S, Root>
    : unknown

type Primitives = {
  string: string
  number: number
  integer: number
  boolean: boolean
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

/** Properties beyond the named ones can be read only where the schema speaks of them. */
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
