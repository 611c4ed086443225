import { expectTypeOf } from 'vitest'
import { parseTemplate, type UriTemplate } from '../../src/uri-template/parse.ts'
import { expand, type TemplateValues } from '../../src/uri-template/expand.ts'
import { match } from '../../src/uri-template/match.ts'
import type { VariablesOf } from '../../src/uri-template/variables.ts'

// What stands bare in a template is always there.
expectTypeOf<VariablesOf<'orders://{id}/lines/{+path}'>>().toEqualTypeOf<{ id: string; path: string }>()
expectTypeOf<VariablesOf<'map://{x,y}'>>().toEqualTypeOf<{ x: string; y: string }>()
expectTypeOf<VariablesOf<'a://{id:3}'>>().toEqualTypeOf<{ id: string }>()
expectTypeOf<VariablesOf<'config://app'>>().toEqualTypeOf<{}>()

// What brings its own delimiter may be absent.
expectTypeOf<VariablesOf<'a://b{?q,page}'>>().toEqualTypeOf<{
  q: string | undefined
  page: string | undefined
}>()
expectTypeOf<VariablesOf<'a://b{/x:2}{.y}{;z}{&v}{#w}'>>().toEqualTypeOf<{
  x: string | undefined
  y: string | undefined
  z: string | undefined
  v: string | undefined
  w: string | undefined
}>()

// An exploded variable is a list, wherever it stands.
expectTypeOf<VariablesOf<'a:/{/path*}{?tag*,q}'>>().toEqualTypeOf<{
  path: string[]
  tag: string[]
  q: string | undefined
}>()
expectTypeOf<VariablesOf<'a://{list*}{+more*}'>>().toEqualTypeOf<{ list: string[]; more: string[] }>()

// Text known only at run time promises nothing.
expectTypeOf<VariablesOf<string>>().toEqualTypeOf<{ [name: string]: string | string[] | undefined }>()

// Thirty expressions are within the reach of the compiler.
type Ten<Prefix extends string> =
  `{${Prefix}0}/{${Prefix}1}/{${Prefix}2}/{${Prefix}3}/{${Prefix}4}/{${Prefix}5}/{${Prefix}6}/{${Prefix}7}/{${Prefix}8}/{${Prefix}9}/`
expectTypeOf<
  keyof VariablesOf<`${Ten<'a'>}${Ten<'b'>}${Ten<'c'>}`>
>().toEqualTypeOf<`${'a' | 'b' | 'c'}${0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9}`>()

declare const variables: VariablesOf<'orders://{id}{?page}'>
// @ts-expect-error a parameter may be absent
void variables.page.length
// @ts-expect-error the template has no such variable
void variables.name

// What a template yields can be expanded again.
expectTypeOf(variables).toExtend<TemplateValues>()
expectTypeOf(parseTemplate).returns.toEqualTypeOf<UriTemplate>()
expectTypeOf(match).returns.toEqualTypeOf<Record<string, string | string[]> | undefined>()

const template: UriTemplate = parseTemplate('a://{b}')
expand(template, { b: [['k', 'v']], c: new Map([['k', 1]]), d: { k: true }, e: ['x', null], f: 1n })
// @ts-expect-error lists do not nest deeper
expand(template, { b: [{ k: ['v'] }] })
