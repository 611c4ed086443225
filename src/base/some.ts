/** Some members of a type; those that are `undefined` count as left out. */
export type Some<Whole> = { readonly [Name in keyof Whole]?: Whole[Name] | undefined }
