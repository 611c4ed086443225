/** A value now, from a store in memory, or later. */
export type Soon<Value> = Value | Promise<Value>
