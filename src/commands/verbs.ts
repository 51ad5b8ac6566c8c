import { Failure } from "../platform/failure.ts";
import type { Options, OptionValues } from "./arguments.ts";

/** What the words behind a command's name call for: each word with the options that it takes besides `--home`. */
export type Verbs<O extends Options> = { readonly [verb: string]: readonly (keyof O & string)[] };

/** Refuses options that another word of the command takes: ignored, they would seem to work. @throws Failure usage */
export function refuseOtherOptions<O extends Options>(
  command: string,
  verbs: Verbs<O>,
  verb: string,
  values: OptionValues<O>,
): void {
  const taken = verbs[verb];
  for (const [name, value] of Object.entries(values)) {
    if (taken === undefined || value === undefined || value === false || name === "home" || taken.includes(name))
      continue;
    const takers = Object.keys(verbs).filter((each) => verbs[each]?.includes(name));
    throw new Failure("usage", `${command} ${verb} takes no --${name}: it is for ${command} ${takers.join(" and ")}`);
  }
}

/** A command's options as those of a word behind another command: their help says so. */
export function forVerb<O extends Options>(verb: string, options: O): O {
  const named = Object.entries(options).map(([name, option]) => [name, { ...option, help: `${verb}: ${option.help}` }]);
  return Object.fromEntries(named);
}

/** The names of `options`. */
export function namesOf<O extends Options>(options: O): readonly (keyof O & string)[] {
  return Object.keys(options);
}
