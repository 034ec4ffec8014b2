package io.github.lockboot.sample;

/** A request parameter that no annotation could check alone. */
public class BadParameterException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final String parameter;

    /** @param requirement what the parameter must be, to be read after its name */
    public BadParameterException(String parameter, String requirement) {
        super(requirement);
        this.parameter = parameter;
    }

    String getParameter() {
        return parameter;
    }

    String getRequirement() {
        return String.valueOf(getMessage());
    }
}
