/** Links to pages of the repository become their text. */
export function packedReadme(text: string): string;
