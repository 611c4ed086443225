/** The member of `data` by which a client knows that the params match the schema, but not the task with the same key. */
export const KEY_TAKEN = 'keyTaken'

/** How to fix a call whose key belongs to a task with other arguments. */
export const KEY_TAKEN_HINT = 'Send the arguments of the task with this key, or others that give another key.'
