import { nearest } from '../base/nearest.ts'
import { badOption, checkWord } from '../base/options.ts'
import { mcpError } from '../errors/error.ts'
import { BAD_DEFINITION, RESOURCE_EXISTS } from '../errors/server.ts'
import type { Profile } from '../profiles/profile.ts'
import { isObject } from '../protocol/jsonrpc.ts'
import type { Limits } from '../protocol/limits.ts'
import type { Completer } from '../server/completion.ts'
import type { Item, PromptDefinition, ResourceDefinition, ToolDefinition } from '../server/definitions.ts'
import type { List } from '../server/lists.ts'
import { toPrompt, toTool } from '../server/register.ts'
import { isTemplate, toResource } from '../server/register-resource.ts'
import type { ServerService } from '../server/service.ts'
import { withHeaderCheck } from './header-check.ts'
import { checkCompletion, hasNoRun } from './misuse.ts'
import type { ServerOptions } from './options.ts'

/** The kinds of items that can be changed by name; templates are resources. */
export type ItemKind = 'tool' | 'resource' | 'prompt'
/** The lists that clients are notified of; that of resources includes templates. */
export type ItemList = `${ItemKind}s`

type Handler = ToolDefinition['run'] & ResourceDefinition['read'] & PromptDefinition['run']

/** What all lists have in common, whatever is in them. */
interface AnyList {
  readonly registered: ReadonlyMap<string, Item>
  remove(key: string): boolean
  enable(key: string): boolean
  disable(key: string): boolean
  drop(): void
}

/** A checked definition and the list it belongs to. */
interface Built {
  readonly list: AnyList
  add(): void
  /** Replaces the item of the same key, whose place it takes. */
  replace(place: number): void
}

const KINDS: readonly string[] = ['tool', 'resource', 'prompt'] satisfies readonly ItemKind[]
const LISTS: readonly ItemList[] = ['tools', 'resources', 'prompts']

/** The tools, resources and prompts of a server: checks every change of them and notifies clients of it. */
export class Items {
  readonly #service: ServerService
  readonly #limits: Limits
  readonly #profile: Profile | undefined
  /** The option `task` of tools that do not say. */
  readonly #task: { readonly task?: 'optional' }
  readonly #changed = new Set<ItemList>()
  /** The last place in a list. All nodes of a server count alike, because cursors contain places. */
  #places = 0

  constructor(
    service: ServerService,
    limits: Limits,
    { profile, capabilities = [] }: Pick<ServerOptions, 'profile' | 'capabilities'>,
  ) {
    this.#service = service
    this.#limits = limits
    this.#profile = profile
    this.#task = capabilities.includes('async') ? { task: 'optional' } : {}
  }

  add(kind: ItemKind, key: string, spec: object, handler: unknown): void {
    const built = this.#build(kind, key, spec, handler)
    if (built.list.registered.has(key)) throw duplicate(kind, key)
    built.add()
    this.#change(`${kind}s`)
  }

  /** Adds a map of tools by name. */
  addTools(tools: Readonly<Record<string, { readonly run: unknown }>>): void {
    if (Array.isArray(tools))
      throw badOption('tools', 'pass an object with tools by name: { add: { input, run } }')
    for (const [name, { run, ...spec }] of Object.entries(tools)) {
      if (run === undefined) throw hasNoRun(name)
      this.add('tool', name, spec, run)
    }
  }

  /** Changes an item. If the result would not be valid, nothing changes. */
  update(kind: ItemKind, key: string, patch: object, handler: unknown): void {
    const { item } = this.#find('update', kind, key)
    if (!isObject(patch)) {
      const call = `update('${kind}', '${key.slice(0, 64)}', { … }, handler)`
      throw badOption('update', `the third argument must be an object with the options to change: ${call}`)
    }
    const run = 'read' in item ? item.read : (item as Item & { readonly run: unknown }).run
    const spec = { ...item.spec, ...patch }
    this.#build(kind, key, spec, handler === undefined ? run : handler).replace(item.place)
    this.#change(`${kind}s`)
  }

  remove(kind: ItemKind, key: string): boolean {
    const removed = this.#lists('remove', kind).some((list) => list.remove(key))
    if (!removed) return false
    const { prompts, templates, completers } = this.#service
    if (!prompts.registered.has(key) && !templates.registered.has(key)) completers.delete(key)
    this.#change(`${kind}s`)
    return true
  }

  enable(kind: ItemKind, key: string): void {
    if (this.#find('enable', kind, key).list.enable(key)) this.#change(`${kind}s`)
  }

  disable(kind: ItemKind, key: string): void {
    if (this.#find('disable', kind, key).list.disable(key)) this.#change(`${kind}s`)
  }

  /** Drops cached lists and notifies clients that a list, or any, has changed. */
  changed(name: ItemList | undefined): void {
    if (name !== undefined) checkWord('changed', 'list', name, LISTS)
    for (const each of name === undefined ? LISTS : [name]) {
      for (const list of this.#lists('changed', each.slice(0, -1) as ItemKind)) list.drop()
      this.#change(each)
    }
  }

  complete(owner: string, argument: string, completer: Completer): void {
    const { prompts, templates, completers } = this.#service
    const names =
      prompts.registered.get(owner)?.argNames ?? templates.registered.get(owner)?.template.variables
    checkCompletion(owner, names, argument, completer)
    const own = completers.get(owner) ?? new Map<string, Completer>()
    own.set(argument, completer)
    completers.set(owner, own)
    this.#service.refold()
  }

  #build(kind: ItemKind, key: string, spec: object, given: unknown): Built {
    const { tools, resources, templates, prompts } = this.#service
    const handler = given as Handler
    if (kind === 'tool') {
      const tool = toTool(key, isObject(spec) ? { ...this.#task, ...spec } : spec, handler, this.#limits)
      this.#profile?.checkTool(key, spec)
      return this.#built(tools, withHeaderCheck(tool))
    }
    if (kind === 'prompt') return this.#built(prompts, toPrompt(key, spec, handler, this.#limits))
    const resource = toResource(key, spec, handler)
    return isTemplate(resource) ? this.#built(templates, resource) : this.#built(resources, resource)
  }

  #built<Kind extends Item>(list: List<Kind>, item: Kind): Built {
    const put = (place: number): Kind => ({ ...item, place })
    return { list, add: () => list.add(put(++this.#places)), replace: (place) => list.replace(put(place)) }
  }

  #lists(where: string, kind: ItemKind): readonly AnyList[] {
    const { tools, resources, templates, prompts } = this.#service
    if (!KINDS.includes(kind))
      throw badOption(where, 'the first argument must be "tool", "resource" or "prompt"')
    return { tool: [tools], resource: [resources, templates], prompt: [prompts] }[kind]
  }

  #find(where: string, kind: ItemKind, key: string): { readonly list: AnyList; readonly item: Item } {
    const lists = this.#lists(where, kind)
    for (const list of lists) {
      const item = list.registered.get(key)
      if (item !== undefined) return { list, item }
    }
    const meant = nearest(
      key,
      lists.flatMap(({ registered }) => [...registered.keys()]),
    )
    const remedy = meant === undefined ? `add it with app.${kind} first` : `did you mean "${meant}"?`
    throw badOption(where, `there is no ${kind} "${key.slice(0, 256)}"; ${remedy}`)
  }

  /** Notifies clients once of several changes to a list in the same tick. */
  #change(kind: ItemList): void {
    this.#service.refold()
    if (!this.#service.changes.isHeard || this.#changed.has(kind)) return
    this.#changed.add(kind)
    queueMicrotask(() => {
      this.#changed.delete(kind)
      this.#service.changes.publish({ kind })
    })
  }
}

function duplicate(kind: ItemKind, key: string): Error {
  if (kind === 'resource') return mcpError(RESOURCE_EXISTS, { uri: key })
  const refusal = kind === 'tool' ? 'TOOL_DUPLICATE' : 'PROMPT_DUPLICATE'
  const reason = 'it already exists; change it with app.update, or remove it first to replace it'
  return mcpError(BAD_DEFINITION, { item: `${kind} "${key}"`, reason }, { refusal })
}
