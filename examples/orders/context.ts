import type { Context } from 'pierhead'
import type { Tenant } from './store.ts'

/** What this server adds to the context of its handlers. */
export type OrderContext = Context & { readonly tenant: Tenant }
