import type { Context } from 'pierhead'
import type { Tenant } from './store.ts'

/** What handlers of this server find in their context besides what every context has. */
export type OrderContext = Context & { readonly tenant: Tenant }
