import { Application } from "@hotwired/stimulus";
import { Autocomplete } from "stimulus-autocomplete";
Application.start().register("autocomplete", Autocomplete);
