/**
 * The type of a template's values: text for `{a}` and `{+a}`, a list for exploded variables, and optional
 * if they may be absent from a URI.
 */
export type VariablesOf<Text extends string> = string extends Text
  ? { [name: string]: string | string[] | undefined }
  : { [Spec in Specs<Text> as NameOf<Spec>]: ValueOf<Spec> }

/** The type of the values that a template is expanded with; numbers are written in decimal. */
export type ValuesOf<Text extends string> = string extends Text
  ? { readonly [name: string]: Given | readonly Given[] | undefined }
  : {
      readonly [Spec in Exclude<Specs<Text>, Omissible> as NameOf<Spec>]: GivenFor<Spec>
    } & {
      readonly [Spec in Extract<Specs<Text>, Omissible> as NameOf<Spec>]?: GivenFor<Spec> | undefined
    }

type Given = string | number | bigint
type GivenFor<Spec extends string> = Spec extends `${string}*` ? readonly Given[] : Given
type Omissible = `${Delimited}${string}`

type Operator = '+' | Delimited
type Delimited = '#' | '.' | '/' | ';' | '?' | '&'

// Each variable as its operator, name and modifier, such as `?page` or `/path*`.
type Specs<
  Text extends string,
  Found extends string = never,
> = Text extends `${string}{${infer Inside}}${infer Rest}` ? Specs<Rest, Found | SpecsInside<Inside>> : Found

type SpecsInside<Inside extends string> = Inside extends `${infer Symbol}${infer List}`
  ? Symbol extends Operator
    ? `${Symbol}${Split<List>}`
    : Split<Inside>
  : never

type Split<List extends string, Found extends string = never> = List extends `${infer Name},${infer Rest}`
  ? Split<Rest, Found | Name>
  : Found | List

type NameOf<Spec extends string> = Spec extends `${infer Symbol}${infer Name}`
  ? WithoutModifier<Symbol extends Operator ? Name : Spec>
  : never

type WithoutModifier<Name extends string> = Name extends `${infer Plain}*`
  ? Plain
  : Name extends `${infer Plain}:${string}`
    ? Plain
    : Name

type ValueOf<Spec extends string> = Spec extends `${string}*`
  ? string[]
  : Spec extends `${Delimited}${string}`
    ? string | undefined
    : string
