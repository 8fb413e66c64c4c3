/** An event of a field or a choice, whose target it is. */
type Typed = Event & { target: HTMLInputElement; currentTarget: HTMLInputElement };
